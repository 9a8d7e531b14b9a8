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

/// Who is connected to sandboxes now: whoever follows events or is in a shell. Calls that end by themselves are no
/// presence; the audit has those. Thread-safe.
public final class Presence {
    private final Set<Guest> guests = ConcurrentHashMap.newKeySet();

    /// One connection that stays. Immutable.
    ///
    /// @param token by which somebody came who has no key
    public record Connection(SandboxId sandbox, UserId user, Optional<String> token, Way way, Instant since) {
        public static Connection of(SandboxId sandbox, Principal who, Way way, Instant since) {
            return new Connection(sandbox, who.name(), who.findGrant().map(grant -> grant.jti()), way, since);
        }
    }

    /// What somebody is there for.
    public enum Way {
        /// Follows what happens.
        EVENTS("events"),
        /// Watches a shell.
        WATCH("watch"),
        /// May type in a shell.
        TYPE("type");

        private final String text;

        Way(String text) {
            this.text = text;
        }

        public String text() {
            return text;
        }
    }

    /// Something that is connected, and says as what; empty once it is not.
    @FunctionalInterface
    public interface Guest {
        Optional<Connection> connection();
    }

    public void enter(Guest guest) {
        guests.add(guest);
    }

    /// Idempotent.
    public void leave(Guest guest) {
        guests.remove(guest);
    }

    /// Those at one sandbox, the longest there first.
    public List<Connection> at(SandboxId sandbox) {
        return guests.stream()
                .flatMap(guest -> guest.connection().stream())
                .filter(connection -> connection.sandbox().equals(sandbox))
                .sorted(Comparator.comparing(Connection::since))
                .toList();
    }
}
