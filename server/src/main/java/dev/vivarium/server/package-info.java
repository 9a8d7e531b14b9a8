/// The server: its command line and its composition root, which constructs all parts without a framework.
@NullMarked
package dev.vivarium.server;

import org.jspecify.annotations.NullMarked;
