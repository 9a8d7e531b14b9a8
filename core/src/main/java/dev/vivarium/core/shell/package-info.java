/// Terminals in a sandbox.
@NullMarked
package dev.vivarium.core.shell;

import org.jspecify.annotations.NullMarked;
