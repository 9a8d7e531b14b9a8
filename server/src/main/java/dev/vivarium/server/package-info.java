/// The server: composes everything by hand, and the command line that starts it.
@NullMarked
package dev.vivarium.server;

import org.jspecify.annotations.NullMarked;
