/// The shell over WebSocket: who is let in, what is said on the socket, and when it is closed.
@NullMarked
package dev.vivarium.server.socket;

import org.jspecify.annotations.NullMarked;
