package dev.vivarium.core.store;

import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SnapshotId;
import dev.vivarium.model.SnapshotInfo;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.ThreadKey;
import dev.vivarium.model.UserId;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Rows of snapshots. Thread-safe.
public final class SnapshotRows {
    private final Db db;

    public SnapshotRows(Db db) {
        this.db = db;
    }

    public void insert(SnapshotInfo snapshot) {
        db.write(sql -> sql.update(
                """
                insert into snapshots (snapshot_id, owner_id, thread_id, sandbox_id, name, bytes, disk_bytes, created_at,
                  parent_id)
                values (?, ?, ?, ?, ?, ?, ?, ?, ?)""",
                snapshot.id().value(),
                snapshot.key().user().value(),
                snapshot.thread().value(),
                snapshot.sandbox().value(),
                snapshot.name(),
                snapshot.bytes(),
                snapshot.diskBytes(),
                snapshot.createdAt().toEpochMilli(),
                snapshot.parent().map(SnapshotId::value).orElse(null)));
    }

    /// Returns the snapshots of a thread, oldest first.
    public List<SnapshotInfo> list(ThreadKey key) {
        return db.read(sql -> sql.list(
                "select * from snapshots where owner_id = ? and thread_id = ? order by created_at, snapshot_id",
                SnapshotRows::snapshot,
                key.user().value(),
                key.thread().value()));
    }

    public Optional<SnapshotInfo> find(SnapshotId id) {
        return db.read(
                sql -> sql.first("select * from snapshots where snapshot_id = ?", SnapshotRows::snapshot, id.value()));
    }

    public int count(ThreadKey key) {
        return db.read(sql -> (int) sql.number(
                "select count(*) from snapshots where owner_id = ? and thread_id = ?",
                key.user().value(),
                key.thread().value()));
    }

    /// Snapshots of one user: their number and the sum of their sizes. Immutable.
    public record Usage(int number, long bytes) {
        public static final Usage NONE = new Usage(0, 0);
    }

    public Usage usage(UserId user) {
        return usage().getOrDefault(user, Usage.NONE);
    }

    /// Returns the snapshots of each user who has any.
    public Map<UserId, Usage> usage() {
        return db.read(sql -> sql.map(
                "select owner_id, count(*), sum(bytes) from snapshots group by owner_id",
                row -> new UserId(row.getString(1)),
                row -> new Usage(row.getInt(2), row.getLong(3))));
    }

    /// Deletes a snapshot. Its children become children of its parent, so that the tree stays connected. Reports
    /// whether the snapshot existed.
    public boolean delete(SnapshotId id) {
        return db.write(sql -> {
            String parent = "(select parent_id from snapshots where snapshot_id = ?)";
            sql.update(
                    "update disk_origins set snapshot_id = " + parent + " where snapshot_id = ? and " + parent
                            + " is not null",
                    id.value(),
                    id.value(),
                    id.value());
            sql.update("delete from disk_origins where snapshot_id = ? and forked_from is null", id.value());
            sql.update("update snapshots set parent_id = " + parent + " where parent_id = ?", id.value(), id.value());
            return sql.update("delete from snapshots where snapshot_id = ?", id.value()) == 1;
        });
    }

    private static SnapshotInfo snapshot(ResultSet columns) throws SQLException {
        return new SnapshotInfo(
                new SnapshotId(columns.getString("snapshot_id")),
                new ThreadKey(new UserId(columns.getString("owner_id")), new ThreadId(columns.getString("thread_id"))),
                new SandboxId(columns.getString("sandbox_id")),
                columns.getString("name"),
                columns.getLong("bytes"),
                columns.getLong("disk_bytes"),
                Instant.ofEpochMilli(columns.getLong("created_at")),
                Optional.ofNullable(columns.getString("parent_id")).map(SnapshotId::new));
    }
}
