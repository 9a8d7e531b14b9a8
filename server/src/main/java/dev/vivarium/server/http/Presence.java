package dev.vivarium.server.http;

import dev.vivarium.core.access.Principal;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.UserId;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/// Clients that follow events of a sandbox or are attached to a shell. Thread-safe.
///
/// Short calls do not count as presence; the audit records them.
public final class Presence {
    private final Set<Client> clients = ConcurrentHashMap.newKeySet();

    /// One long-lived connection. Immutable.
    ///
    /// @param token id of the token, if the client has no key
    public record Connection(SandboxId sandbox, UserId user, Optional<String> token, Purpose purpose, Instant since) {
        public static Connection of(SandboxId sandbox, Principal who, Purpose purpose, Instant since) {
            return new Connection(sandbox, who.name(), who.findGrant().map(grant -> grant.jti()), purpose, since);
        }
    }

    /// Purpose of a connection.
    public enum Purpose {
        /// Follows events.
        EVENTS("events"),
        /// Watches a shell.
        WATCH("watch"),
        /// May type in a shell.
        TYPE("type");

        private final String text;

        Purpose(String text) {
            this.text = text;
        }

        public String text() {
            return text;
        }
    }

    /// Client that reports its connection; empty after it disconnects.
    @FunctionalInterface
    public interface Client {
        Optional<Connection> connection();
    }

    public void enter(Client client) {
        clients.add(client);
    }

    /// Idempotent.
    public void leave(Client client) {
        clients.remove(client);
    }

    /// Returns the connections to one sandbox, oldest first.
    public List<Connection> at(SandboxId sandbox) {
        return clients.stream()
                .flatMap(client -> client.connection().stream())
                .filter(connection -> connection.sandbox().equals(sandbox))
                .sorted(Comparator.comparing(Connection::since))
                .toList();
    }
}
