/// Files of a sandbox: read, written, listed, moved, removed and watched beneath its workspace.
@NullMarked
package dev.vivarium.core.files;

import org.jspecify.annotations.NullMarked;
