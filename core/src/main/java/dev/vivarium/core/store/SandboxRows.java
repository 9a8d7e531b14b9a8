package dev.vivarium.core.store;

import dev.vivarium.core.store.SandboxRow.Owner;
import dev.vivarium.core.store.SandboxRow.Phase;
import dev.vivarium.model.Egress;
import dev.vivarium.model.End;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Limits;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Rows of sandboxes and their threads. A row that has ended never changes again. Thread-safe.
public final class SandboxRows {
    private static final String ALIVE = "ended_at is null";

    private final Db db;

    public SandboxRows(Db db) {
        this.db = db;
    }

    /// Returns the owner of a thread, if it was ever used.
    public Optional<UserId> ownerOf(ThreadId thread) {
        return db.read(sql -> ownerOf(sql, thread));
    }

    /// Adds a row, and its thread if that is new. Fails with `NoSandboxForThread` if the thread belongs to another
    /// user.
    public void insert(SandboxRow row) {
        db.write(sql -> {
            claim(sql, row);
            return sql.update(
                    """
                    insert into sandboxes (id, thread_id, user_id, status, image, secret, memory_bytes, cpus, processes,
                      disk_bytes, env, egress, idle_timeout_ms, created_at, last_activity, ends_at)
                    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
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
                    EnvText.encode(row.env()),
                    text(row.egress()),
                    row.idleTimeout().toMillis(),
                    row.createdAt().toEpochMilli(),
                    row.lastActivity().toEpochMilli(),
                    row.endsAt().toEpochMilli());
        });
    }

    /// Assigns a machine of the pool to the owner in `row`. Reports whether it was still in the pool.
    public boolean handOut(SandboxRow row) {
        return db.write(sql -> {
            claim(sql, row);
            return sql.update(
                            """
                            update sandboxes set thread_id = ?, user_id = ?, status = ?, memory_bytes = ?, cpus = ?,
                              processes = ?, env = ?, egress = ?, idle_timeout_ms = ?, created_at = ?, last_activity = ?, ends_at = ?
                            where id = ? and status = ?""",
                            thread(row),
                            user(row),
                            row.phase().text(),
                            row.limits().memoryBytes(),
                            row.limits().cpus(),
                            row.limits().processes(),
                            EnvText.encode(row.env()),
                            text(row.egress()),
                            row.idleTimeout().toMillis(),
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

    /// Reason of a pause: a label for programs, and a sentence.
    public record StoredPause(String cause, String detail) {}

    /// Moves a row that has not ended to `paused`, with the reason.
    public void pause(SandboxId id, StoredPause why) {
        db.write(sql -> sql.update(
                "update sandboxes set status = ?, pause_cause = ?, pause_detail = ? where id = ? and " + ALIVE,
                Phase.PAUSED.text(),
                why.cause(),
                why.detail(),
                id.value()));
    }

    /// Returns the reason of each paused sandbox.
    public Map<SandboxId, StoredPause> pauses() {
        return db
                .read(sql -> sql.list(
                        "select id, pause_cause, pause_detail from sandboxes where status = ? and " + ALIVE,
                        columns -> Map.entry(
                                new SandboxId(columns.getString(1)),
                                new StoredPause(columns.getString(2), columns.getString(3))),
                        Phase.PAUSED.text()))
                .stream()
                .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, Map.Entry::getValue));
    }

    /// Stores the secret of the guest that is about to start on the existing disk of the sandbox.
    public void secret(SandboxId id, String secret) {
        db.write(sql -> sql.update("update sandboxes set secret = ? where id = ? and " + ALIVE, secret, id.value()));
    }

    /// Stores the egress allow-list of a sandbox.
    public void egress(SandboxId id, Egress egress) {
        db.write(sql ->
                sql.update("update sandboxes set egress = ? where id = ? and " + ALIVE, text(egress), id.value()));
    }

    /// Stores the control port of a sandbox.
    public void controlPort(SandboxId id, int port) {
        db.write(sql -> sql.update("update sandboxes set door_port = ? where id = ? and " + ALIVE, port, id.value()));
    }

    /// Returns the control port of each sandbox that has one open.
    public Map<SandboxId, Integer> controlPortNumbers() {
        return db
                .read(sql -> sql.list(
                        "select id, door_port from sandboxes where door_port > 0 and " + ALIVE,
                        columns -> Map.entry(new SandboxId(columns.getString(1)), columns.getInt(2))))
                .stream()
                .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, Map.Entry::getValue));
    }

    /// Ends a row permanently. The first end wins. Reports whether this call was the first.
    public boolean end(SandboxId id, Phase phase, End end) {
        return db.write(sql -> sql.update(
                        "update sandboxes set status = ?, end_cause = ?, end_detail = ?, ended_at = ? where id = ? and "
                                + ALIVE,
                        phase.text(),
                        end.cause().label(),
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
        return db.read(sql -> sql.first("select * from sandboxes where id = ?", SandboxRows::row, id.value()));
    }

    /// Returns all rows that have not ended.
    public List<SandboxRow> alive() {
        return db.read(sql -> sql.list("select * from sandboxes where " + ALIVE, SandboxRows::row));
    }

    /// Returns the sandboxes that ended last, newest first. With `user`, only those of the user.
    public List<SandboxRow> newestEnded(Optional<UserId> user, int limit) {
        @Nullable String name = user.map(UserId::value).orElse(null);
        return db.read(sql -> sql.list(
                "select * from sandboxes where ended_at is not null and (cast(? as text) is null or user_id = ?)"
                        + " order by ended_at desc limit ?",
                SandboxRows::row,
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

    /// Adds a thread without a sandbox. Fails with `NoSandboxForThread` if the thread belongs to another user.
    public void claim(Owner owner, Instant now) {
        db.write(sql -> {
            claim(sql, owner, now);
            return owner;
        });
    }

    private static Optional<UserId> ownerOf(Sql sql, ThreadId thread) throws SQLException {
        return sql.first(
                "select user_id from threads where thread_id = ?",
                columns -> new UserId(columns.getString(1)),
                thread.value());
    }

    /// A thread permanently belongs to the user who used it first.
    private static void claim(Sql sql, SandboxRow row) throws SQLException {
        if (row.owner().isPresent()) {
            claim(sql, row.owner().get(), row.createdAt());
        }
    }

    private static void claim(Sql sql, Owner owner, Instant now) throws SQLException {
        boolean isNew = sql.update(
                        "insert into threads (thread_id, user_id, created_at) values (?, ?, ?) on conflict do nothing",
                        owner.thread().value(),
                        owner.user().value(),
                        now.toEpochMilli())
                == 1;
        if (!isNew && !ownerOf(sql, owner.thread()).equals(Optional.of(owner.user()))) {
            throw new SandboxException(new Failure.NoSandboxForThread(owner.thread()));
        }
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

    private static SandboxRow row(ResultSet columns) throws SQLException {
        return new SandboxRow(
                new SandboxId(columns.getString("id")),
                owner(columns.getString("thread_id"), columns.getString("user_id")),
                Phase.of(columns.getString("status")),
                columns.getString("image"),
                columns.getString("secret"),
                new Limits(
                        columns.getLong("memory_bytes"),
                        columns.getDouble("cpus"),
                        columns.getInt("processes"),
                        columns.getLong("disk_bytes")),
                EnvText.decode(columns.getString("env")),
                Egress.of("egress", columns.getString("egress").lines().toList()),
                Duration.ofMillis(columns.getLong("idle_timeout_ms")),
                Instant.ofEpochMilli(columns.getLong("created_at")),
                Instant.ofEpochMilli(columns.getLong("last_activity")),
                Instant.ofEpochMilli(columns.getLong("ends_at")),
                end(columns));
    }

    private static Optional<Owner> owner(@Nullable String thread, @Nullable String user) {
        return thread == null || user == null
                ? Optional.empty()
                : Optional.of(new Owner(new ThreadId(thread), new UserId(user)));
    }

    private static Optional<End> end(ResultSet columns) throws SQLException {
        String cause = columns.getString("end_cause");
        if (cause == null) {
            return Optional.empty();
        }
        return Optional.of(new End(
                End.Cause.valueOf(cause.toUpperCase(Locale.ROOT)),
                columns.getString("end_detail"),
                Instant.ofEpochMilli(columns.getLong("ended_at"))));
    }
}
