/// Connections into a sandbox: to what listens on a port or a unix socket inside.
@NullMarked
package dev.vivarium.core.preview;

import org.jspecify.annotations.NullMarked;
