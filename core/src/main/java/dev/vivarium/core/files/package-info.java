/// Files of a sandbox: read, write, list, move, remove and watch below its workspace.
@NullMarked
package dev.vivarium.core.files;

import org.jspecify.annotations.NullMarked;
