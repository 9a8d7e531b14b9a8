package dev.vivarium.core.run;

import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.Sql;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import java.sql.SQLException;
import java.time.InstantSource;
import java.util.Optional;
import java.util.regex.Pattern;

/// What workers were told when they said something for the first time, so that they are told the same again. Kept
/// until the run ends. Thread-safe.
public final class Repeats {
    private static final Pattern KEY = Pattern.compile("[\\x21-\\x7e]{1,200}");

    private final Db db;
    private final InstantSource clock;

    public Repeats(Db db, InstantSource clock) {
        this.db = db;
        this.clock = clock;
    }

    /// Something that a worker says, under the key that it repeats it with.
    ///
    /// @param request what tells it from others: the same key for something else is refused
    public record Saying(SandboxId sandbox, String key, String request) {
        public Saying {
            if (!KEY.matcher(key).matches()) {
                throw new SandboxException(new Failure.InvalidRequest(
                        "Idempotency-Key", "must be 1 to 200 printable characters without a space"));
            }
        }
    }

    private record Kept(String request, String answer) {}

    /// What was answered the first time, if this is not it.
    public Optional<String> find(Saying saying) {
        var kept = db.read(sql -> sql.first(
                "select request, answer from sandbox_answers where sandbox_id = ? and idempotency_key = ?",
                row -> new Kept(row.getString(1), row.getString(2)),
                saying.sandbox().value(),
                saying.key()));
        if (kept.filter(first -> !first.request().equals(saying.request())).isPresent()) {
            throw new SandboxException(
                    new Failure.InvalidRequest("Idempotency-Key", "was used for another request; make a new one"));
        }
        return kept.map(Kept::answer);
    }

    /// Keeps an answer; the first one stands.
    public void keep(Saying saying, String answer) {
        db.write(sql -> sql.update(
                "insert into sandbox_answers (sandbox_id, idempotency_key, request, answer, created_at)"
                        + " values (?, ?, ?, ?, ?) on conflict do nothing",
                saying.sandbox().value(),
                saying.key(),
                saying.request(),
                answer,
                clock.millis()));
    }

    /// The run is over, and nobody repeats anything.
    static void forget(Sql sql, SandboxId sandbox) throws SQLException {
        sql.update("delete from sandbox_answers where sandbox_id = ?", sandbox.value());
    }
}
