package dev.vivarium.core.guest;

import dev.vivarium.model.SandboxException;
import java.util.function.Consumer;

/// Incoming connections of one listener inside a sandbox: their maximum number and their handler. Thread-safe.
final class IncomingConnections {
    private final Connection connection;
    private final int max;
    private final Consumer<Channel> taker;

    /// Confined to the guest loop.
    private int inside;

    IncomingConnections(Connection connection, int max, Consumer<Channel> taker) {
        this.connection = connection;
        this.max = max;
        this.taker = taker;
    }

    int max() {
        return max;
    }

    /// Counts one more connection. Returns false if the maximum is reached. Only the guest loop calls this and
    /// [#leave].
    boolean enter() {
        if (inside == max) {
            return false;
        }
        inside++;
        return true;
    }

    /// Counts the end of a connection.
    void leave() {
        inside--;
    }

    /// Channel of an incoming connection. After its first frame, it behaves like a connection that the host opened.
    Channel admit(int number) {
        return new Channel(
                connection, number, Service.DIAL, new RequestSubject.Machine(), observer(), connection.reservation());
    }

    /// Observer of the channel. If the observer refuses the connection, the connection is accepted without it and
    /// closed.
    private GuestObserver observer() {
        try {
            GuestObserver observer = connection.observer().ofInside();
            observer.began(Service.DIAL);
            return observer;
        } catch (SandboxException e) {
            return GuestObserver.NONE;
        }
    }

    /// Handles the connection in a new virtual thread, because the calling guest loop must not block.
    void serve(Channel channel) {
        Thread.ofVirtual()
                .name("arrival-" + connection.id() + "-" + Integer.toUnsignedString(channel.number()))
                .start(() -> {
                    try (channel) {
                        taker.accept(channel);
                    }
                });
    }
}
