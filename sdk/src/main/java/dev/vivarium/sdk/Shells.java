package dev.vivarium.sdk;

import dev.vivarium.json.JsonFields;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/// Shells of one sandbox. Thread-safe.
public final class Shells {
    private final SandboxConnection connection;

    Shells(SandboxConnection connection) {
        this.connection = connection;
    }

    /// A shell as the server lists it. Immutable.
    public record ShellInfo(
            String id,
            Optional<String> command,
            Instant startedAt,
            boolean running,
            Optional<Long> exitCode,
            List<Participant> participants) {
        public ShellInfo {
            participants = List.copyOf(participants);
        }

        private static ShellInfo read(JsonFields fields) {
            return new ShellInfo(
                    fields.string("session_id"),
                    fields.optionalString("command"),
                    fields.time("started_at"),
                    fields.flag("running"),
                    fields.optionalInteger("exit_code"),
                    Participant.readAll(fields));
        }
    }

    /// A user who is connected to a shell as `typist` or `watcher`. Immutable.
    public record Participant(String user, String role) {
        /// Reads the participants of a shell or of a presence message.
        public static List<Participant> readAll(JsonFields fields) {
            return fields.objects("people").stream()
                    .map(person -> new Participant(person.string("user_id"), person.string("role")))
                    .toList();
        }
    }

    /// The shells of the sandbox, oldest first.
    public List<ShellInfo> list() {
        return connection.get(
                "/shells",
                fields -> fields.objects("shells").stream().map(ShellInfo::read).toList());
    }
}
