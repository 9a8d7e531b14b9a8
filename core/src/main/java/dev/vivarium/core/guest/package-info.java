/// Host side of the wire: one connection to each guest, with channels and flow control for each stream.
@NullMarked
package dev.vivarium.core.guest;

import org.jspecify.annotations.NullMarked;
