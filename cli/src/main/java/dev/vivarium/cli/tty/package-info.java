/// Terminal client of shells, with reconnection.
@NullMarked
package dev.vivarium.cli.tty;

import org.jspecify.annotations.NullMarked;
