/// Contract of the clients, and a server for tests of other modules.
@NullMarked
package dev.vivarium.testing;

import org.jspecify.annotations.NullMarked;
