package dev.vivarium.core.access;

import dev.vivarium.core.store.Db;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Threads and their owners. Thread-safe.
///
/// Lists omit an archived thread until it is used again.
public final class Threads {
    private final Db db;
    private final InstantSource clock;

    public Threads(Db db, InstantSource clock) {
        this.db = db;
        this.clock = clock;
    }

    public record Entry(ThreadId thread, UserId owner, Instant createdAt) {}

    /// Returns up to `limit` threads in the order of their names, after the thread `after`. With `user`, only
    /// threads that the user owns or was invited to.
    public List<Entry> list(Optional<UserId> user, String after, int limit) {
        @Nullable String name = user.map(UserId::value).orElse(null);
        return db.read(sql -> sql.list(
                """
                select thread_id, user_id, created_at from threads t
                where (archived_at is null
                    or exists (select 1 from sandboxes s where s.thread_id = t.thread_id and s.ended_at is null))
                  and (cast(? as text) is null or user_id = ?
                    or exists (select 1 from members m where m.thread_id = t.thread_id and m.user_id = ?))
                  and thread_id > ?
                order by thread_id limit ?""",
                row -> new Entry(
                        new ThreadId(row.getString(1)),
                        new UserId(row.getString(2)),
                        Instant.ofEpochMilli(row.getLong(3))),
                name,
                name,
                name,
                after,
                limit));
    }

    public void archive(ThreadId thread) {
        db.write(sql ->
                sql.update("update threads set archived_at = ? where thread_id = ?", clock.millis(), thread.value()));
    }

    /// Reverses [#archive].
    public void revive(ThreadId thread) {
        db.write(sql -> sql.update(
                "update threads set archived_at = null where thread_id = ? and archived_at is not null",
                thread.value()));
    }
}
