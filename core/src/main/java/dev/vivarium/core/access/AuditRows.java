package dev.vivarium.core.access;

import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.Sql;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Rows of the audit log. Confined to the worker thread of the log.
///
/// A foldable entry increases the count of its row if the row is recent. The log keeps a number of rows. If it has
/// more, it deletes the oldest rows of the principals with the most.
final class AuditRows {
    static final String COLUMNS =
            "seq, at, kind, outcome, route, user_id, sandbox_id, owner_id, thread_id, jti, scopes, detail, count, last_at";

    private static final Logger LOG = LoggerFactory.getLogger(AuditRows.class);
    private static final int MAX_DETAIL = 200;
    private static final long PRUNE_EVERY = 10_000;

    /// Maximum age of a row that a foldable entry increases.
    private static final Duration FOLD = Duration.ofMinutes(1);

    private static final Duration FOLD_OF_WORKER = Duration.ofMinutes(10);
    private static final int MAX_RECENT = 10_000;

    private final Db db;
    private final long keep;
    private final Map<AuditEntry, Recent> recent = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<AuditEntry, Recent> eldest) {
            return size() > MAX_RECENT;
        }
    };

    private long lastSeq;
    private long lastPruned;

    private record Recent(long seq, Instant since, long count) {}

    AuditRows(Db db, long keep) {
        this.db = db;
        this.keep = keep;
        this.lastSeq = db.read(sql -> sql.number("select max(seq) from audit"));
    }

    /// Writes the entries in one transaction. May be repeated after a failure, also if the failed call committed.
    void write(List<AuditQueue.Pending> group) {
        var changed = new HashMap<AuditEntry, Recent>();
        long last = db.write(sql -> {
            changed.clear();
            long seq = lastSeq;
            for (var pending : group) {
                Recent row = store(sql, seq + 1, pending);
                seq = Math.max(seq, row.seq);
                if (pending.entry().isFoldable()) {
                    changed.put(pending.entry().withoutTime(), row);
                }
            }
            return seq;
        });
        lastSeq = last;
        changed.forEach((key, row) -> {
            recent.remove(key);
            recent.put(key, row);
        });
        if (lastSeq - lastPruned >= Math.min(keep, PRUNE_EVERY)) {
            lastPruned = lastSeq;
            prune();
        }
    }

    /// Adds the entry to the recent row of equal ones, or inserts a row with the number `next`.
    private Recent store(Sql sql, long next, AuditQueue.Pending pending) throws SQLException {
        AuditEntry entry = pending.entry();
        var known = known(entry);
        if (known.isPresent()) {
            var row = new Recent(known.get().seq, known.get().since, known.get().count + pending.count());
            if (update(sql, row, pending.last())) {
                return row;
            }
        }
        insert(sql, next, pending);
        return new Recent(next, entry.at(), pending.count());
    }

    /// Returns the recent row of equal entries.
    private Optional<Recent> known(AuditEntry entry) {
        Duration max = entry.isByWorker() ? FOLD_OF_WORKER : FOLD;
        return Optional.of(entry)
                .filter(AuditEntry::isFoldable)
                .map(one -> recent.get(one.withoutTime()))
                .filter(row -> entry.at().isBefore(row.since.plus(max)));
    }

    /// Returns false if the row was deleted.
    private static boolean update(Sql sql, Recent row, Instant last) throws SQLException {
        int updated = sql.update(
                "update audit set count = ?, last_at = ? where seq = ?", row.count, last.toEpochMilli(), row.seq);
        return updated > 0;
    }

    private static void insert(Sql sql, long seq, AuditQueue.Pending pending) throws SQLException {
        AuditEntry entry = pending.entry();
        sql.update(
                // This may be the retry of a write that timed out but was committed.
                "insert into audit (" + COLUMNS
                        + ") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (seq) do nothing",
                seq,
                entry.at().toEpochMilli(),
                entry.kind().text(),
                entry.outcome(),
                entry.route(),
                entry.user().map(UserId::value).orElse(null),
                entry.sandbox().map(SandboxId::value).orElse(null),
                entry.owner().map(UserId::value).orElse(null),
                entry.thread().map(ThreadId::value).orElse(null),
                entry.jti().orElse(null),
                entry.scopes().map(Scopes::text).orElse(null),
                entry.detail().substring(0, Math.min(MAX_DETAIL, entry.detail().length())),
                pending.count(),
                pending.last().toEpochMilli());
    }

    private void prune() {
        try {
            var counts = db.read(sql -> sql.list(
                    "select user_id, count(*) from audit group by user_id",
                    row -> new RowsOf(row.getString(1), row.getLong(2))));
            long max = fairShare(counts.stream().map(RowsOf::count).sorted().toList(), keep);
            counts.stream().filter(rows -> rows.count > max).forEach(rows -> delete(rows.user, max));
        } catch (SandboxException e) {
            LOG.warn("Old entries of the audit are deleted later: {}", e.getMessage());
        }
    }

    private record RowsOf(@Nullable String user, long count) {}

    /// Returns the largest number of rows that each principal may keep, so that all together keep at most `keep`.
    static long fairShare(List<Long> ascending, long keep) {
        long left = keep;
        int principals = ascending.size();
        for (long count : ascending) {
            if (count * principals > left) {
                return left / principals;
            }
            left -= count;
            principals--;
        }
        return keep;
    }

    private void delete(@Nullable String user, long max) {
        String rows = user == null ? "user_id is null and cast(? as text) is null" : "user_id = ?";
        long last = db.read(sql ->
                sql.number("select seq from audit where " + rows + " order by seq desc limit 1 offset ?", user, max));
        int _ = db.write(sql -> sql.update("delete from audit where " + rows + " and seq <= ?", user, last));
    }
}
