package dev.vivarium.core.guest;

/// A port on a sandbox's own loopback whose connections come to the host. Thread-safe.
public final class InsideListener implements AutoCloseable {
    private final Channel channel;
    private final int port;

    InsideListener(Channel channel, int port) {
        this.channel = channel;
        this.port = port;
    }

    /// The port that it listens on.
    public int port() {
        return port;
    }

    /// Takes no more connections; those that have come go on. Idempotent.
    @Override
    public void close() {
        channel.close();
    }
}
