package dev.vivarium.core.access;

import dev.vivarium.core.CriticalThread;
import dev.vivarium.core.store.Db;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.TextEnum;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Audit log of all calls, permitted and refused. Thread-safe.
///
/// Writes are asynchronous: one worker thread writes all queued entries in one transaction. If the store fails, the
/// worker retries after a second, or when a reader waits. [AuditQueue] and [AuditRows] bound the log for each principal
/// separately, so that a flood of one principal displaces only its own entries. A read returns every entry that was
/// recorded before it.
public final class Audit implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Audit.class);
    private static final int GROUP = 1024;
    private static final Duration RETRY = Duration.ofSeconds(1);

    /// Maximum wait of a read for pending writes. It exceeds the duration of a write, because a read must return
    /// all earlier entries.
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private static final String WHERE = """
            from audit where (cast(? as text) is null or thread_id = ?
            or sandbox_id in (select id from sandboxes where thread_id = ?))
            and (cast(? as text) is null or owner_id = ?
            or sandbox_id in (select id from sandboxes where user_id = ?))
            and (cast(? as text) is null or sandbox_id = ?)
            and (cast(? as text) is null or user_id = ?)
            and (cast(? as text) is null or kind = ?)
            and (cast(? as text) is null or (outcome >= 400) = (cast(? as text) = 'REFUSED'))
            and seq > ? and seq < ?""";

    private final Db db;
    private final AuditQueue queue = new AuditQueue();
    private final AuditRows rows;
    private final AtomicLong dropped = new AtomicLong();
    private volatile Consumer<AuditEntry> listener = _ -> {};
    private final Thread worker;

    /// Entry with its number. It stands for `count` equal ones, until `last`. Immutable.
    public record Numbered(long seq, AuditEntry entry, long count, Instant last) {}

    /// @param keep number of entries to keep
    public Audit(Db db, long keep) {
        this.db = db;
        this.rows = new AuditRows(db, keep);
        this.worker = CriticalThread.start("audit", this::run);
    }

    /// Records an operation. Returns at once, unless the principal has too many unwritten entries.
    public void record(AuditEntry entry) {
        listener.accept(entry);
        if (!queue.add(entry)) {
            dropped.incrementAndGet();
        }
    }

    /// Calls `other` with each entry. It must not block.
    public void onRecord(Consumer<AuditEntry> other) {
        listener = other;
    }

    /// Returns the number of entries lost since the start.
    public long dropped() {
        return dropped.get();
    }

    /// Returns up to `limit` entries in order: the oldest if `after` is set, otherwise the newest.
    public List<Numbered> list(AuditQuery query, int limit) {
        queue.flush(TIMEOUT);
        @Nullable String thread = query.thread().map(ThreadId::value).orElse(null);
        @Nullable String owner = query.owner().map(UserId::value).orElse(null);
        @Nullable String sandbox = query.sandbox().map(SandboxId::value).orElse(null);
        @Nullable String user = query.user().map(UserId::value).orElse(null);
        @Nullable String kind = query.kind().map(AuditEntry.Kind::text).orElse(null);
        @Nullable String outcome = query.outcome().map(Enum::name).orElse(null);
        String order = query.after().isPresent() ? "asc" : "desc";
        var entries = new ArrayList<>(db.read(sql -> sql.list(
                "select " + AuditRows.COLUMNS + "\n" + WHERE + " order by seq " + order + " limit ?",
                Audit::read,
                thread,
                thread,
                thread,
                owner,
                owner,
                owner,
                sandbox,
                sandbox,
                user,
                user,
                kind,
                kind,
                outcome,
                outcome,
                query.after().orElse(0L),
                query.before().orElse(Long.MAX_VALUE),
                limit)));
        if (query.after().isEmpty()) {
            Collections.reverse(entries);
        }
        return entries;
    }

    private void run() {
        for (var group = queue.take(GROUP); !group.isEmpty(); group = queue.take(GROUP)) {
            try {
                write(group);
            } finally {
                queue.done(group);
            }
        }
    }

    /// Retries until the store accepts the group. New entries wait in the queue.
    private void write(List<AuditQueue.Pending> group) {
        for (boolean isFirst = true; ; isFirst = false) {
            try {
                rows.write(group);
                return;
            } catch (SandboxException e) {
                if (queue.isClosed() || isRefused(e)) {
                    dropped.addAndGet(
                            group.stream().mapToLong(AuditQueue.Pending::count).sum());
                    LOG.warn("{} entries of the audit are lost: {}", group.size(), e.getMessage());
                    return;
                }
                if (isFirst) {
                    LOG.warn("Entries of the audit are stored later: {}", e.getMessage());
                }
                queue.pause(RETRY);
            }
        }
    }

    /// Reports whether the database rejects the entries themselves (SQL states of data and syntax), so that a retry
    /// would fail again.
    private static boolean isRefused(SandboxException failure) {
        String state = failure.getCause() instanceof SQLException cause ? cause.getSQLState() : null;
        return state != null && (state.startsWith("22") || state.startsWith("42"));
    }

    private static Numbered read(ResultSet row) throws SQLException {
        var entry = new AuditEntry(
                Instant.ofEpochMilli(row.getLong("at")),
                TextEnum.of(AuditEntry.Kind.class, row.getString("kind")),
                row.getInt("outcome"),
                row.getString("route"),
                Optional.ofNullable(row.getString("user_id")).map(UserId::new),
                Optional.ofNullable(row.getString("sandbox_id")).map(SandboxId::new),
                Optional.ofNullable(row.getString("owner_id")).map(UserId::new),
                Optional.ofNullable(row.getString("thread_id")).map(ThreadId::new),
                Optional.ofNullable(row.getString("jti")),
                Optional.ofNullable(row.getString("scopes")).map(Scopes::parse),
                row.getString("detail"));
        return new Numbered(
                row.getLong("seq"), entry, row.getLong("count"), Instant.ofEpochMilli(row.getLong("last_at")));
    }

    /// Writes the pending entries, then stops. Idempotent.
    @Override
    public void close() {
        queue.close();
        boolean interrupted = false;
        while (true) {
            try {
                worker.join(TIMEOUT);
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
