/// The host side of the wire: one connection to each guest, many channels on it, with flow control for each stream.
@NullMarked
package dev.vivarium.core.guest;

import org.jspecify.annotations.NullMarked;
