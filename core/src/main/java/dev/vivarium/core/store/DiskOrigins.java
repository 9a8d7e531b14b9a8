package dev.vivarium.core.store;

import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SnapshotId;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.ThreadKey;
import dev.vivarium.model.UserId;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;

/// Origins of the disks of sandboxes: the snapshot tree that clients see. Thread-safe.
///
/// A sandbox that was never saved, restored or forked has no origin.
public final class DiskOrigins {
    private final Db db;

    public DiskOrigins(Db db) {
        this.db = db;
    }

    /// Origin of the disk of a sandbox. Immutable.
    ///
    /// @param snapshot   snapshot of the last save, restore or fork
    /// @param forkedFrom snapshot that the disk started with
    public record Origin(SandboxId sandbox, ThreadKey key, SnapshotId snapshot, Optional<SnapshotId> forkedFrom) {}

    /// Records that the disk equals this snapshot.
    public void now(SandboxId sandbox, ThreadKey key, SnapshotId snapshot) {
        db.write(sql -> sql.update(
                """
                insert into disk_origins (sandbox_id, owner_id, thread_id, snapshot_id) values (?, ?, ?, ?)
                on conflict (sandbox_id) do update set snapshot_id = excluded.snapshot_id""", sandbox.value(), key.user().value(), key.thread().value(), snapshot.value()));
    }

    /// Records that the disk of a new sandbox starts as this snapshot, usually of another thread. Runs in the
    /// transaction of the caller.
    static void forked(Sql sql, SandboxId sandbox, ThreadKey key, SnapshotId from) throws SQLException {
        sql.update(
                "insert into disk_origins (sandbox_id, owner_id, thread_id, snapshot_id, forked_from)"
                        + " values (?, ?, ?, ?, ?)",
                sandbox.value(),
                key.user().value(),
                key.thread().value(),
                from.value(),
                from.value());
    }

    public Optional<Origin> find(SandboxId sandbox) {
        return db.read(sql ->
                sql.first("select * from disk_origins where sandbox_id = ?", DiskOrigins::origin, sandbox.value()));
    }

    /// Returns the sandboxes that started as a snapshot of this thread.
    public List<Origin> forksOf(ThreadKey key) {
        return db.read(sql -> sql.list(
                "select * from disk_origins where forked_from in"
                        + " (select snapshot_id from snapshots where owner_id = ? and thread_id = ?)"
                        + " order by thread_id, sandbox_id",
                DiskOrigins::origin,
                key.user().value(),
                key.thread().value()));
    }

    private static Origin origin(ResultSet columns) throws SQLException {
        return new Origin(
                new SandboxId(columns.getString("sandbox_id")),
                new ThreadKey(new UserId(columns.getString("owner_id")), new ThreadId(columns.getString("thread_id"))),
                new SnapshotId(columns.getString("snapshot_id")),
                Optional.ofNullable(columns.getString("forked_from")).map(SnapshotId::new));
    }
}
