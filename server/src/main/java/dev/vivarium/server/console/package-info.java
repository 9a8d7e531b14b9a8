/// What people open in a browser: how they sign in, and the pages they see.
@NullMarked
package dev.vivarium.server.console;

import org.jspecify.annotations.NullMarked;
