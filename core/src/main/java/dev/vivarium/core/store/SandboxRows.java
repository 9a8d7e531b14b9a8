package dev.vivarium.core.store;

import dev.vivarium.core.store.SandboxRow.Phase;
import dev.vivarium.model.Egress;
import dev.vivarium.model.End;
import dev.vivarium.model.Limits;
import dev.vivarium.model.OnIdle;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SnapshotId;
import dev.vivarium.model.TextEnum;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.ThreadKey;
import dev.vivarium.model.UserId;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Rows of sandboxes and their threads. A row that has ended never changes again. Thread-safe.
public final class SandboxRows {
    private static final String ALIVE = "ended_at is null";

    private final Db db;
    private final SealedEnv env;

    public SandboxRows(Db db) {
        this.db = db;
        this.env = SealedEnv.of(db);
    }

    /// Reports whether the thread was ever used.
    public boolean hasThread(ThreadKey key) {
        return db.read(sql -> sql.first(
                        "select 1 from threads where user_id = ? and thread_id = ?",
                        _ -> true,
                        key.user().value(),
                        key.thread().value()))
                .isPresent();
    }

    /// Returns the users who have a thread of this name, ordered by name.
    public List<UserId> ownersOf(ThreadId thread) {
        return db.read(sql -> sql.list(
                "select user_id from threads where thread_id = ? order by user_id",
                columns -> new UserId(columns.getString(1)),
                thread.value()));
    }

    /// Adds a row, and its thread if that is new.
    public void insert(SandboxRow row) {
        insert(row, Optional.empty());
    }

    /// Adds a row with the snapshot that its disk starts as.
    public void insert(SandboxRow row, Optional<SnapshotId> from) {
        db.write(sql -> {
            addThread(sql, row);
            if (from.isPresent()) {
                DiskOrigins.forked(sql, row.id(), row.owner().orElseThrow(), from.get());
            }
            return sql.update(
                    """
                    insert into sandboxes (id, thread_id, user_id, status, image, secret, memory_bytes, cpus, processes,
                      disk_bytes, env, egress, idle_timeout_ms, on_idle, created_at, last_activity, ends_at)
                    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
                    row.id().value(),
                    thread(row),
                    user(row),
                    row.phase().text(),
                    row.image(),
                    row.secret(),
                    row.limits().memoryBytes(),
                    row.limits().cpus(),
                    row.limits().processes(),
                    row.limits().diskBytes(),
                    env.seal(row.id().value(), row.env()),
                    text(row.egress()),
                    row.idleTimeout().toMillis(),
                    row.onIdle().text(),
                    row.createdAt().toEpochMilli(),
                    row.lastActivity().toEpochMilli(),
                    row.endsAt().toEpochMilli());
        });
    }

    /// Assigns a machine of the pool to the owner in `row`. Reports whether it was still in the pool.
    public boolean handOut(SandboxRow row) {
        return db.write(sql -> {
            addThread(sql, row);
            return sql.update(
                            """
                            update sandboxes set thread_id = ?, user_id = ?, status = ?, memory_bytes = ?, cpus = ?,
                              processes = ?, env = ?, egress = ?, idle_timeout_ms = ?, on_idle = ?, created_at = ?,
                              last_activity = ?, ends_at = ?
                            where id = ? and status = ?""",
                            thread(row),
                            user(row),
                            row.phase().text(),
                            row.limits().memoryBytes(),
                            row.limits().cpus(),
                            row.limits().processes(),
                            env.seal(row.id().value(), row.env()),
                            text(row.egress()),
                            row.idleTimeout().toMillis(),
                            row.onIdle().text(),
                            row.createdAt().toEpochMilli(),
                            row.lastActivity().toEpochMilli(),
                            row.endsAt().toEpochMilli(),
                            row.id().value(),
                            Phase.POOLED.text())
                    == 1;
        });
    }

    /// Moves a row that has not ended to another phase. Reports whether the row existed.
    public boolean phase(SandboxId id, Phase phase) {
        return db.write(sql ->
                sql.update("update sandboxes set status = ? where id = ? and " + ALIVE, phase.text(), id.value()) == 1);
    }

    /// Reason of a pause or a hibernation: a label for programs, and a sentence.
    ///
    /// @param files number of files in the workspace, if it is known
    public record StoredPause(String cause, String detail, Optional<Long> files) {}

    /// Moves a row that has not ended to `paused`, with the reason.
    public void pause(SandboxId id, StoredPause why) {
        db.write(sql -> sql.update(
                "update sandboxes set status = ?, pause_cause = ?, pause_detail = ?, files_count = ? where id = ? and "
                        + ALIVE,
                Phase.PAUSED.text(),
                why.cause(),
                why.detail(),
                why.files().orElse(null),
                id.value()));
    }

    /// Moves a row that has not ended to `hibernated`, with the reason and the time at which the disk is deleted.
    public void hibernate(SandboxId id, StoredPause why, Instant endsAt) {
        db.write(sql -> sql.update(
                "update sandboxes set status = ?, pause_cause = ?, pause_detail = ?, files_count = ?, ends_at = ?"
                        + " where id = ? and " + ALIVE,
                Phase.HIBERNATED.text(),
                why.cause(),
                why.detail(),
                why.files().orElse(null),
                endsAt.toEpochMilli(),
                id.value()));
    }

    /// Returns the reason of each paused or hibernated sandbox.
    public Map<SandboxId, StoredPause> pauses() {
        return db.read(sql -> sql.map(
                "select id, pause_cause, pause_detail, files_count from sandboxes where status in (?, ?) and " + ALIVE,
                columns -> new SandboxId(columns.getString(1)),
                columns -> new StoredPause(columns.getString(2), columns.getString(3), files(columns)),
                Phase.PAUSED.text(),
                Phase.HIBERNATED.text()));
    }

    private static Optional<Long> files(ResultSet columns) throws SQLException {
        long files = columns.getLong("files_count");
        return columns.wasNull() ? Optional.empty() : Optional.of(files);
    }

    /// Moves a row that has not ended to `running`, with the secret of the guest that is about to start on the
    /// existing disk of the sandbox.
    public void restart(SandboxId id, String secret, Instant endsAt) {
        db.write(sql -> sql.update(
                "update sandboxes set status = ?, secret = ?, ends_at = ? where id = ? and " + ALIVE,
                Phase.RUNNING.text(),
                secret,
                endsAt.toEpochMilli(),
                id.value()));
    }

    /// Stores the end of the lifetime of a sandbox.
    public void endsAt(SandboxId id, Instant endsAt) {
        db.write(sql -> sql.update(
                "update sandboxes set ends_at = ? where id = ? and " + ALIVE, endsAt.toEpochMilli(), id.value()));
    }

    /// Stores the egress allow-list of a sandbox.
    public void egress(SandboxId id, Egress egress) {
        db.write(sql ->
                sql.update("update sandboxes set egress = ? where id = ? and " + ALIVE, text(egress), id.value()));
    }

    public void controlPort(SandboxId id, int port) {
        db.write(sql -> sql.update("update sandboxes set door_port = ? where id = ? and " + ALIVE, port, id.value()));
    }

    /// Returns the control port of each sandbox that has one open.
    public Map<SandboxId, Integer> controlPortNumbers() {
        return db.read(sql -> sql.map(
                "select id, door_port from sandboxes where door_port > 0 and " + ALIVE,
                columns -> new SandboxId(columns.getString(1)),
                columns -> columns.getInt(2)));
    }

    /// Stores a limit of the idle timeout. The timeout of the request stays.
    public void idleLimit(SandboxId id, Duration limit) {
        db.write(sql -> sql.update(
                "update sandboxes set idle_limit_ms = ? where id = ? and " + ALIVE, limit.toMillis(), id.value()));
    }

    /// Returns the limit of the idle timeout of each sandbox that has one.
    public Map<SandboxId, Duration> idleLimits() {
        return db.read(sql -> sql.map(
                "select id, idle_limit_ms from sandboxes where idle_limit_ms is not null and " + ALIVE,
                columns -> new SandboxId(columns.getString(1)),
                columns -> Duration.ofMillis(columns.getLong(2))));
    }

    /// Ends a row permanently and deletes its environment. The first end wins. Reports whether this call was the
    /// first.
    public boolean end(SandboxId id, Phase phase, End end) {
        return db.write(sql -> sql.update(
                        "update sandboxes set status = ?, end_cause = ?, end_detail = ?, ended_at = ?, env = '' where id = ? and "
                                + ALIVE,
                        phase.text(),
                        end.cause().text(),
                        end.detail(),
                        end.at().toEpochMilli(),
                        id.value())
                == 1);
    }

    /// Deletes a machine that never had an owner.
    public void forgetUnowned(SandboxId id) {
        db.write(sql -> sql.update("delete from sandboxes where id = ? and thread_id is null", id.value()));
    }

    /// Stores the time of the last activity of these sandboxes.
    public void lastActivity(Map<SandboxId, Instant> times) {
        db.write(sql -> {
            for (var entry : times.entrySet()) {
                sql.update(
                        "update sandboxes set last_activity = ? where id = ? and " + ALIVE,
                        entry.getValue().toEpochMilli(),
                        entry.getKey().value());
            }
            return times.size();
        });
    }

    /// Reports whether the store contains any sandbox, ended or not.
    public boolean hasAny() {
        return db.read(sql -> sql.first("select 1 from sandboxes limit 1", _ -> true))
                .isPresent();
    }

    public Optional<SandboxRow> find(SandboxId id) {
        return db.read(sql -> sql.first("select * from sandboxes where id = ?", this::row, id.value()));
    }

    public List<SandboxRow> alive() {
        return db.read(sql -> sql.list("select * from sandboxes where " + ALIVE, this::row));
    }

    /// Returns the sandbox of the thread that ended last.
    public Optional<SandboxRow> lastEnded(ThreadKey thread) {
        return db.read(sql -> sql.first(
                "select * from sandboxes where ended_at is not null and user_id = ? and thread_id = ?"
                        + " order by ended_at desc limit 1",
                this::row,
                thread.user().value(),
                thread.thread().value()));
    }

    /// Returns the sandboxes that ended last, newest first. With `user`, only those of the user.
    public List<SandboxRow> newestEnded(Optional<UserId> user, int limit) {
        @Nullable String name = user.map(UserId::value).orElse(null);
        return db.read(sql -> sql.list(
                "select * from sandboxes where ended_at is not null and (cast(? as text) is null or user_id = ?)"
                        + " order by ended_at desc limit ?",
                this::row,
                name,
                name,
                limit));
    }

    /// Deletes rows that ended before `time`. Returns their number.
    public int prune(Instant time) {
        return db.write(sql -> {
            sql.update(
                    "delete from disk_origins where sandbox_id in (select id from sandboxes where ended_at < ?)",
                    time.toEpochMilli());
            return sql.update("delete from sandboxes where ended_at < ?", time.toEpochMilli());
        });
    }

    /// Adds a thread without a sandbox.
    public void addThread(ThreadKey key, Instant now) {
        db.write(sql -> addThread(sql, key, now));
    }

    private static void addThread(Sql sql, SandboxRow row) throws SQLException {
        if (row.owner().isPresent()) {
            addThread(sql, row.owner().get(), row.createdAt());
        }
    }

    private static int addThread(Sql sql, ThreadKey key, Instant now) throws SQLException {
        return sql.update(
                "insert into threads (user_id, thread_id, created_at) values (?, ?, ?) on conflict do nothing",
                key.user().value(),
                key.thread().value(),
                now.toEpochMilli());
    }

    private static String text(Egress egress) {
        return String.join("\n", egress.texts());
    }

    private static @Nullable String thread(SandboxRow row) {
        return row.owner().map(owner -> owner.thread().value()).orElse(null);
    }

    private static @Nullable String user(SandboxRow row) {
        return row.owner().map(owner -> owner.user().value()).orElse(null);
    }

    private SandboxRow row(ResultSet columns) throws SQLException {
        return new SandboxRow(
                new SandboxId(columns.getString("id")),
                owner(columns.getString("thread_id"), columns.getString("user_id")),
                TextEnum.of(Phase.class, columns.getString("status")),
                columns.getString("image"),
                columns.getString("secret"),
                new Limits(
                        columns.getLong("memory_bytes"),
                        columns.getDouble("cpus"),
                        columns.getInt("processes"),
                        columns.getLong("disk_bytes")),
                env.open(columns.getString("id"), columns.getString("env")),
                Egress.of("egress", columns.getString("egress").lines().toList()),
                Duration.ofMillis(columns.getLong("idle_timeout_ms")),
                TextEnum.of(OnIdle.class, columns.getString("on_idle")),
                Instant.ofEpochMilli(columns.getLong("created_at")),
                Instant.ofEpochMilli(columns.getLong("last_activity")),
                Instant.ofEpochMilli(columns.getLong("ends_at")),
                end(columns));
    }

    private static Optional<ThreadKey> owner(@Nullable String thread, @Nullable String user) {
        return thread == null || user == null
                ? Optional.empty()
                : Optional.of(new ThreadKey(new UserId(user), new ThreadId(thread)));
    }

    private static Optional<End> end(ResultSet columns) throws SQLException {
        String cause = columns.getString("end_cause");
        if (cause == null) {
            return Optional.empty();
        }
        return Optional.of(new End(
                TextEnum.of(End.Cause.class, cause),
                columns.getString("end_detail"),
                Instant.ofEpochMilli(columns.getLong("ended_at"))));
    }
}
