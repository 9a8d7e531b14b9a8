/// Connections into a sandbox: to listeners on a port or a Unix socket inside.
@NullMarked
package dev.vivarium.core.preview;

import org.jspecify.annotations.NullMarked;
