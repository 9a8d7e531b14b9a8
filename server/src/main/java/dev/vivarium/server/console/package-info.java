/// Web console: sign-in of browsers, and the files of the console.
@NullMarked
package dev.vivarium.server.console;

import org.jspecify.annotations.NullMarked;
