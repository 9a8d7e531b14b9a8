package dev.vivarium.server.socket;

import dev.vivarium.core.access.Scope;
import dev.vivarium.json.JsonFields;
import dev.vivarium.server.http.Caller;
import dev.vivarium.server.http.Presence;
import java.util.Optional;

/// Session of an authenticated client on a [GuardedSocket]: a shell, the events of a sandbox, or the feed. Thread-safe.
interface SocketSession extends AutoCloseable {
    /// Starts the session of a client that was admitted. Throws the failure for the client.
    @FunctionalInterface
    interface Opener {
        /// @param first fields of the first message, without type and token
        SocketSession open(GuardedSocket socket, Caller caller, JsonFields first);
    }

    /// Returns the scope without which the socket closes.
    default Scope needed() {
        return Scope.SHELL_RO;
    }

    /// Returns the purpose of the connection; empty if it does not belong to one sandbox.
    Optional<Presence.Purpose> purpose();

    /// Returns the message that confirms an authentication.
    String authenticatedMessage();

    /// Sends messages until the session ends. Called once, on its own thread.
    void run() throws InterruptedException;

    /// Handles a message. Throws the failure for the client.
    void receive(Caller caller, String type, JsonFields message);

    /// Called a few times a second.
    default void tick() {}

    /// Idempotent.
    @Override
    void close();
}
