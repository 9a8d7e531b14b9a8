package dev.vivarium.core.guest;

/// Listener on the loopback of a sandbox whose connections are forwarded to the host. Thread-safe.
public final class InsideListener implements AutoCloseable {
    private final Channel channel;
    private final int port;

    InsideListener(Channel channel, int port) {
        this.channel = channel;
        this.port = port;
    }

    public int port() {
        return port;
    }

    /// Stops accepting connections; accepted connections continue. Idempotent.
    @Override
    public void close() {
        channel.close();
    }
}
