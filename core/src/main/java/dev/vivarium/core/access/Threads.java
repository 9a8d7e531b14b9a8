package dev.vivarium.core.access;

import dev.vivarium.core.store.Db;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.ThreadKey;
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

    public record Entry(ThreadKey key, Instant createdAt) {}

    /// Position in a list: after the thread of this name and owner. Without an owner, after all threads of this
    /// name. Immutable.
    public record Position(String thread, Optional<String> owner) {
        public static final Position START = new Position("", Optional.empty());
    }

    /// Returns up to `limit` threads in the order of their names and owners. With `user`, only threads that the
    /// user owns or was invited to.
    public List<Entry> list(Optional<UserId> user, Position after, int limit) {
        @Nullable String name = user.map(UserId::value).orElse(null);
        return db.read(sql -> sql.list(
                """
                select thread_id, user_id, created_at from threads t
                where (archived_at is null
                    or exists (select 1 from sandboxes s where s.user_id = t.user_id and s.thread_id = t.thread_id
                      and s.ended_at is null))
                  and (cast(? as text) is null or user_id = ?
                    or exists (select 1 from members m
                      where m.owner_id = t.user_id and m.thread_id = t.thread_id and m.user_id = ?))
                  and (thread_id > ? or thread_id = ? and user_id > cast(? as text))
                order by thread_id, user_id limit ?""",
                row -> new Entry(
                        new ThreadKey(new UserId(row.getString(2)), new ThreadId(row.getString(1))),
                        Instant.ofEpochMilli(row.getLong(3))),
                name,
                name,
                name,
                after.thread(),
                after.thread(),
                after.owner().orElse(null),
                limit));
    }

    public void archive(ThreadKey key) {
        db.write(sql -> sql.update(
                "update threads set archived_at = ? where user_id = ? and thread_id = ?",
                clock.millis(),
                key.user().value(),
                key.thread().value()));
    }

    /// Reverses [#archive].
    public void revive(ThreadKey key) {
        db.write(sql -> sql.update(
                "update threads set archived_at = null"
                        + " where user_id = ? and thread_id = ? and archived_at is not null",
                key.user().value(),
                key.thread().value()));
    }
}
