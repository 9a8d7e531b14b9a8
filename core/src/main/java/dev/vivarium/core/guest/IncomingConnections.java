package dev.vivarium.core.guest;

import dev.vivarium.model.SandboxException;
import java.util.function.Consumer;

/// Where connections from inside a sandbox arrive, as the host knows it: how many there may be at a time, and who takes
/// them. Thread-safe.
final class IncomingConnections {
    private final Connection connection;
    private final int most;
    private final Consumer<Channel> taker;

    /// Confined to the guest loop.
    private int inside;

    IncomingConnections(Connection connection, int most, Consumer<Channel> taker) {
        this.connection = connection;
        this.most = most;
        this.taker = taker;
    }

    int most() {
        return most;
    }

    /// Takes a place for one more connection. Reports whether there was one. Called by the guest loop alone, as is
    /// [#leave].
    boolean enter() {
        if (inside == most) {
            return false;
        }
        inside++;
        return true;
    }

    /// One that had entered has ended.
    void leave() {
        inside--;
    }

    /// The channel of a connection that has come. From its first frame on it is like one that the host has dialled.
    Channel admit(int number) {
        return new Channel(
                connection, number, Service.DIAL, new RequestSubject.Machine(), kept(), connection.reservation());
    }

    /// Whoever answers for the guest may refuse the connection; it is then taken without them, and closed.
    private GuestObserver kept() {
        try {
            connection.keeper().began(Service.DIAL);
            return connection.keeper();
        } catch (SandboxException e) {
            return GuestObserver.NONE;
        }
    }

    /// Has the connection served by a worker of its own. The loop, which calls this, must not wait.
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
