package dev.vivarium.core.provider;

import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.SocketChannel;

/// Duplex byte stream between the server and one guest. Immutable.
public sealed interface GuestStream {
    /// Channel that the guest loop selects on. The caller owns it: closing the channel closes the stream.
    SocketChannel channel();

    /// Stream that is a socket of this host. Its bytes have no other hop.
    record Socket(SocketChannel channel) implements GuestStream {}

    /// Stream of any other kind, such as an attach stream of a cluster. Two threads copy its bytes to and from a
    /// socket pair. Closing `in` and `out` from another thread must end a blocked `read` and `write`.
    record Bytes(InputStream in, OutputStream out) implements GuestStream {
        /// Starts the two threads. Must be called at most once, since the channel takes over both streams.
        @Override
        public SocketChannel channel() {
            return StreamBridge.start(this);
        }
    }
}
