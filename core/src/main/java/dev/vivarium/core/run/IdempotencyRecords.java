package dev.vivarium.core.run;

import dev.vivarium.core.Digests;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.Sql;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxId;
import java.sql.SQLException;
import java.time.InstantSource;
import java.util.Optional;
import java.util.regex.Pattern;

/// Responses to requests of workers with an idempotency key. A repeated request gets the first response. Deleted when
/// the run ends. Thread-safe.
public final class IdempotencyRecords {
    private static final Pattern KEY = Pattern.compile("[\\x21-\\x7e]{1,200}");

    private final Db db;
    private final InstantSource clock;

    public IdempotencyRecords(Db db, InstantSource clock) {
        this.db = db;
        this.clock = clock;
    }

    /// Request of a worker with an idempotency key.
    ///
    /// @param request method and route
    /// @param content body. The same key with another request or body is refused
    public record IdempotentRequest(SandboxId sandbox, String key, String request, String content) {
        public IdempotentRequest {
            Failure.InvalidRequest.require(
                    KEY.matcher(key).matches(),
                    "Idempotency-Key",
                    "must be 1 to 200 printable characters without a space");
        }

        private String mark() {
            return request + " " + Digests.sha256(content);
        }

        /// Reports whether a stored request is the same. Older servers stored no hash of the content.
        private boolean isMarked(String kept) {
            return kept.equals(mark()) || kept.equals(request);
        }
    }

    private record Kept(String request, String answer) {}

    /// Returns the first response, or nothing if this is the first request.
    public Optional<String> find(IdempotentRequest repeatable) {
        var kept = db.read(sql -> sql.first(
                "select request, answer from sandbox_answers where sandbox_id = ? and idempotency_key = ?",
                row -> new Kept(row.getString(1), row.getString(2)),
                repeatable.sandbox().value(),
                repeatable.key()));
        Failure.InvalidRequest.require(
                kept.map(Kept::request).map(repeatable::isMarked).orElse(true),
                "Idempotency-Key",
                "was used for another request; make a new one");
        return kept.map(Kept::answer);
    }

    /// Stores a response, unless there is one.
    public void keep(IdempotentRequest repeatable, String answer) {
        db.write(sql -> sql.update(
                "insert into sandbox_answers (sandbox_id, idempotency_key, request, answer, created_at)"
                        + " values (?, ?, ?, ?, ?) on conflict do nothing",
                repeatable.sandbox().value(),
                repeatable.key(),
                repeatable.mark(),
                answer,
                clock.millis()));
    }

    /// Deletes the records of a run that is over.
    static void forget(Sql sql, SandboxId sandbox) throws SQLException {
        sql.update("delete from sandbox_answers where sandbox_id = ?", sandbox.value());
    }
}
