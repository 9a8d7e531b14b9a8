package dev.vivarium.core.access;

import dev.vivarium.core.GroupQueue;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.Sql;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
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
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Audit log of token and sandbox operations. Entries are numbered without gaps; the log keeps the newest. Thread-safe.
///
/// Writes are asynchronous: one worker thread writes all queued entries in one transaction. If the store fails, the
/// worker retries after a second, or when a reader waits. When the queue is full, the log drops new entries and counts
/// them. Any client can cause any number of authentication failures. The log therefore drops entries of
/// unauthenticated refusals when the queue is half full. A read returns every entry that was recorded before it.
public final class Audit implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Audit.class);
    private static final int QUEUE = 8192;
    private static final int GROUP = 1024;
    private static final int MAX_DETAIL = 200;
    private static final int PRUNE_EVERY = 10_000;
    private static final Duration RETRY = Duration.ofSeconds(1);
    private static final Duration GATHER = Duration.ofMillis(100);

    /// Maximum wait of a read for pending writes. It exceeds the duration of a write, because a read must return
    /// all earlier entries.
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private static final String COLUMNS =
            "seq, at, kind, outcome, route, user_id, sandbox_id, thread_id, jti, scopes, detail";
    private static final String WHERE = """
            from audit where (cast(? as text) is null or thread_id = ?
            or sandbox_id in (select id from sandboxes where thread_id = ?))
            and (cast(? as text) is null or sandbox_id = ?)
            and (cast(? as text) is null or user_id = ?)
            and (cast(? as text) is null or kind = ?)
            and (cast(? as text) is null or (outcome >= 400) = (cast(? as text) = 'REFUSED'))
            and seq > ? and seq < ?""";

    private final Db db;
    private final long keep;
    private final GroupQueue<Queued> queue;
    private final AtomicLong dropped = new AtomicLong();

    /// Ends the waits of the worker.
    private final Semaphore wakeUps = new Semaphore(0);

    /// Confined to the worker thread.
    private long lastSeq;

    private long lastPruned;

    private sealed interface Queued {
        record Entry(AuditEntry entry) implements Queued {}

        /// Reader that waits for the earlier entries.
        record Flush(CountDownLatch written) implements Queued {}
    }

    public record Numbered(long seq, AuditEntry entry) {}

    /// @param keep number of newest entries to keep
    public Audit(Db db, long keep) {
        this.db = db;
        this.keep = keep;
        this.lastSeq = db.read(sql -> sql.first("select max(seq) from audit", row -> row.getLong(1)))
                .orElse(0L);
        this.queue = new GroupQueue<>("audit", QUEUE, GROUP, this::writeGroup);
    }

    /// Records an operation. Returns immediately.
    public void record(AuditEntry entry) {
        boolean isUnauthenticated =
                entry.kind() == AuditEntry.Kind.REFUSED && entry.user().isEmpty();
        boolean hasRoom = !isUnauthenticated || queue.room() > QUEUE / 2;
        if (!hasRoom || !queue.offer(new Queued.Entry(entry))) {
            dropped.incrementAndGet();
        }
    }

    /// Returns the number of entries lost since the start.
    public long dropped() {
        return dropped.get();
    }

    /// Returns up to `limit` entries in order: the oldest if `after` is set, otherwise the newest.
    public List<Numbered> list(AuditQuery query, int limit) {
        flush();
        @Nullable String thread = query.thread().map(ThreadId::value).orElse(null);
        @Nullable String sandbox = query.sandbox().map(SandboxId::value).orElse(null);
        @Nullable String user = query.user().map(UserId::value).orElse(null);
        @Nullable String kind = query.kind().map(AuditEntry.Kind::text).orElse(null);
        @Nullable String outcome = query.outcome().map(Enum::name).orElse(null);
        String order = query.after().isPresent() ? "asc" : "desc";
        var entries = new ArrayList<>(db.read(sql -> sql.list(
                "select " + COLUMNS + "\n" + WHERE + " order by seq " + order + " limit ?",
                Audit::read,
                thread,
                thread,
                thread,
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

    /// Waits, with a timeout, until all entries recorded so far are written.
    private void flush() {
        var written = new CountDownLatch(1);
        try {
            if (queue.offer(new Queued.Flush(written), TIMEOUT.toNanos())) {
                wakeUps.release();
                boolean ignored = written.await(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /// Waits briefly for more entries, because a commit costs the same for one entry as for many.
    private void writeGroup(List<Queued> group) {
        if (group.getFirst() instanceof Queued.Entry) {
            pause(GATHER);
        }
        queue.fill(group);
        var entries = new ArrayList<AuditEntry>(group.size());
        var readers = new ArrayList<CountDownLatch>();
        for (Queued queued : group) {
            switch (queued) {
                case Queued.Entry(var entry) -> entries.add(entry);
                case Queued.Flush(var written) -> readers.add(written);
            }
        }
        try {
            if (!entries.isEmpty()) {
                write(entries);
            }
        } finally {
            readers.forEach(CountDownLatch::countDown);
        }
    }

    /// Retries until the store accepts the group. New entries wait in the queue, up to its bound.
    private void write(List<AuditEntry> group) {
        for (boolean isFirst = true; ; isFirst = false) {
            try {
                insertAndPrune(group);
                return;
            } catch (SandboxException e) {
                if (queue.isClosed() || isRefused(e)) {
                    dropped.addAndGet(group.size());
                    LOG.warn("{} entries of the audit are lost: {}", group.size(), e.getMessage());
                    return;
                }
                if (isFirst) {
                    LOG.warn("Entries of the audit are stored later: {}", e.getMessage());
                }
                pause(RETRY);
            }
        }
    }

    private void insertAndPrune(List<AuditEntry> group) {
        long first = lastSeq + 1;
        db.write(sql -> insert(sql, group, first));
        lastSeq += group.size();
        if (lastSeq - lastPruned >= PRUNE_EVERY) {
            lastPruned = lastSeq;
            prune();
        }
    }

    private void prune() {
        try {
            db.write(sql -> sql.update("delete from audit where seq <= ?", lastSeq - keep));
        } catch (SandboxException e) {
            LOG.warn("Old entries of the audit are deleted later: {}", e.getMessage());
        }
    }

    /// Reports whether the database rejects the entries themselves (SQL states of data and syntax), so that a retry
    /// would fail again.
    private static boolean isRefused(SandboxException failure) {
        String state = failure.getCause() instanceof SQLException cause ? cause.getSQLState() : null;
        return state != null && (state.startsWith("22") || state.startsWith("42"));
    }

    /// Waits until a reader needs the entries or the log closes, or until the timeout.
    private void pause(Duration most) {
        try {
            if (!queue.isClosed() && wakeUps.tryAcquire(most.toMillis(), TimeUnit.MILLISECONDS)) {
                wakeUps.drainPermits();
            }
        } catch (InterruptedException e) {
            // Nothing interrupts the worker; a shorter wait does no harm.
        }
    }

    private static int insert(Sql sql, List<AuditEntry> group, long first) throws SQLException {
        long seq = first;
        for (AuditEntry entry : group) {
            sql.update(
                    // This may be the retry of a write that timed out but was committed.
                    "insert into audit (" + COLUMNS
                            + ") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (seq) do nothing",
                    seq++,
                    entry.at().toEpochMilli(),
                    entry.kind().text(),
                    entry.outcome(),
                    entry.route(),
                    entry.user().map(UserId::value).orElse(null),
                    entry.sandbox().map(SandboxId::value).orElse(null),
                    entry.thread().map(ThreadId::value).orElse(null),
                    entry.jti().orElse(null),
                    entry.scopes().map(Scopes::text).orElse(null),
                    entry.detail()
                            .substring(0, Math.min(MAX_DETAIL, entry.detail().length())));
        }
        return group.size();
    }

    private static Numbered read(ResultSet row) throws SQLException {
        var entry = new AuditEntry(
                Instant.ofEpochMilli(row.getLong("at")),
                AuditEntry.Kind.of(row.getString("kind")),
                row.getInt("outcome"),
                row.getString("route"),
                Optional.ofNullable(row.getString("user_id")).map(UserId::new),
                Optional.ofNullable(row.getString("sandbox_id")).map(SandboxId::new),
                Optional.ofNullable(row.getString("thread_id")).map(ThreadId::new),
                Optional.ofNullable(row.getString("jti")),
                Optional.ofNullable(row.getString("scopes")).map(Scopes::parse),
                row.getString("detail"));
        return new Numbered(row.getLong("seq"), entry);
    }

    /// Writes the pending entries, then stops. Idempotent.
    @Override
    public void close() {
        wakeUps.release();
        queue.close(TIMEOUT);
    }
}
