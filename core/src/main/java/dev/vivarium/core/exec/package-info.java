/// Commands in a sandbox: start, input, output, signals and exit.
@NullMarked
package dev.vivarium.core.exec;

import org.jspecify.annotations.NullMarked;
