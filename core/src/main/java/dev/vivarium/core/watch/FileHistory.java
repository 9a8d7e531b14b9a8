package dev.vivarium.core.watch;

import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.Sql;
import dev.vivarium.model.FileEntry;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.TextEnum;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

/// History of the files of sandboxes, keyed by the events of their logs. Bounded for each sandbox. Thread-safe.
///
/// Each row is valid from event `seq` up to event `until_seq`, if set. Current versions take precedence. Of past
/// versions, the oldest are deleted first.
public final class FileHistory {
    /// Maximum number of files recorded for a sandbox. Further files are watched, but not recorded.
    static final int MAX_FILES = 10_000;

    /// Maximum number of text characters stored for a sandbox.
    private static final long MAX_CHARACTERS = 8 << 20;

    private static final int ROWS_AT_ONCE = 500;

    /// Long, because a reader that times out would report that the text was not kept.
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private static final String NOW = " where sandbox_id = ? and until_seq is null";
    private static final String PROPERTIES = "file_path, file_type, size_bytes, modified_ns, sha256, seq";
    private static final long NANOS = 1_000_000_000L;

    /// Number of paths in one query. Shorter lists are padded, so that the statement is prepared once.
    private static final int AT_ONCE = 32;

    private static final String BY_PATH = "select " + PROPERTIES + ", content from sandbox_files" + NOW
            + " and file_path in (" + String.join(", ", Collections.nCopies(AT_ONCE, "?")) + ")";

    private final Db db;
    private final UnaryOperator<String> mask;
    private final Map<SandboxId, CountDownLatch> beingTold = new ConcurrentHashMap<>();

    public FileHistory(Db db) {
        this(db, UnaryOperator.identity());
    }

    /// @param mask replaces secrets in stored text
    public FileHistory(Db db, UnaryOperator<String> mask) {
        this.db = db;
        this.mask = mask;
    }

    /// Next version of a path; `after` is empty if the path was deleted.
    ///
    /// @param before last known version
    record Step(Optional<Version> before, Optional<Version> after, long seq) {}

    /// Known state of a path at some event.
    public sealed interface Moment {
        /// The path existed with this version.
        record There(Version version) implements Moment {}

        /// The path did not exist.
        record Nothing() implements Moment {}

        /// The path existed, but its version is no longer stored.
        record Forgotten() implements Moment {}
    }

    /// Returns the state of `path` when `seq` was the newest event.
    public Moment at(SandboxId sandbox, String path, long seq) {
        awaitWritten(sandbox);
        return db.read(sql -> {
            Optional<Version> there = version(sql, sandbox, path, seq);
            if (there.isPresent()) {
                return new Moment.There(there.get());
            }
            // If the next event is not a creation, the path existed before.
            return firstAfter(sql, sandbox, path, seq)
                            .filter(type -> !type.equals("file.created"))
                            .isPresent()
                    ? new Moment.Forgotten()
                    : new Moment.Nothing();
        });
    }

    /// Returns the version of `path` when `seq` was the newest event.
    private static Optional<Version> version(Sql sql, SandboxId sandbox, String path, long seq) throws SQLException {
        return sql.first(
                "select " + PROPERTIES + ", content from sandbox_files where sandbox_id = ? and file_path = ?"
                        + " and seq <= ? and (until_seq is null or until_seq > ?) order by seq desc limit 1",
                FileHistory::read,
                sandbox.value(),
                path,
                seq,
                seq);
    }

    /// Returns the type of the event of the first version after `seq`.
    private static Optional<String> firstAfter(Sql sql, SandboxId sandbox, String path, long seq) throws SQLException {
        return sql.first(
                "select e.event_type from sandbox_files f join sandbox_events e on e.sandbox_id = f.sandbox_id and e.seq = f.seq"
                        + " where f.sandbox_id = ? and f.file_path = ? and f.seq > ? order by f.seq limit 1",
                row -> row.getString(1),
                sandbox.value(),
                path,
                seq);
    }

    /// Waits for pending writes: a client may receive an event before its version is stored.
    private void awaitWritten(SandboxId sandbox) {
        CountDownLatch latch = beingTold.get(sandbox);
        try {
            if (latch != null) {
                latch.await(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /// Announces events of a sandbox. Their versions are stored before the result is closed.
    Publication begin(SandboxId sandbox) {
        return new Publication(sandbox);
    }

    /// While it is open, readers wait for the versions of published events. Confined to one thread.
    final class Publication implements AutoCloseable {
        private final SandboxId sandbox;
        private final CountDownLatch latch = new CountDownLatch(1);

        private Publication(SandboxId sandbox) {
            this.sandbox = sandbox;
            beingTold.put(sandbox, latch);
        }

        @Override
        public void close() {
            beingTold.remove(sandbox, latch);
            latch.countDown();
        }
    }

    /// Deletes versions that ended before the oldest stored event of their log. Deletes all versions of an ended
    /// sandbox whose log holds at most one event. Returns the number of deleted versions.
    public int prune() {
        String events = " from sandbox_events e where e.sandbox_id = sandbox_files.sandbox_id";
        return db.write(sql -> {
            int removed = sql.update("delete from sandbox_files where until_seq <= (select min(seq)" + events + ")");
            return removed
                    + sql.update("delete from sandbox_files where not exists"
                            + " (select 1 from sandboxes s where s.id = sandbox_files.sandbox_id and s.ended_at is null)"
                            + " and not exists (select 1" + events + " limit 1 offset 1)");
        });
    }

    /// Returns all current versions, without content.
    List<Version> current(SandboxId sandbox) {
        return db.read(sql -> sql.list(
                "select " + PROPERTIES + ", null from sandbox_files" + NOW, FileHistory::read, sandbox.value()));
    }

    /// Returns the current versions of these paths.
    List<Version> current(SandboxId sandbox, List<String> paths) {
        if (paths.isEmpty()) {
            return List.of();
        }
        return db.read(sql -> {
            var found = new ArrayList<Version>();
            for (int from = 0; from < paths.size(); from += AT_ONCE) {
                var arguments = new Object[AT_ONCE + 1];
                arguments[0] = sandbox.value();
                for (int i = 0; i < AT_ONCE; i++) {
                    arguments[i + 1] = paths.get(Math.min(from + i, paths.size() - 1));
                }
                found.addAll(sql.list(BY_PATH, FileHistory::read, arguments));
            }
            return found;
        });
    }

    /// Returns all current versions below a directory, without content.
    List<Version> below(SandboxId sandbox, String directory) {
        String prefix = directory + "/";
        return db.read(sql -> sql.list(
                "select " + PROPERTIES + ", null from sandbox_files" + NOW + " and substr(file_path, 1, ?) = ?",
                FileHistory::read,
                sandbox.value(),
                prefix.codePointCount(0, prefix.length()),
                prefix));
    }

    /// Returns the newest event with a stored version.
    long lastSeq(SandboxId sandbox) {
        return db.read(sql -> sql.number(
                "select max(coalesce(until_seq, seq)) from sandbox_files where sandbox_id = ?", sandbox.value()));
    }

    /// Returns the number of stored characters of a sandbox.
    long characters(SandboxId sandbox) {
        return db.read(sql -> characters(sql, sandbox));
    }

    private static long characters(Sql sql, SandboxId sandbox) throws SQLException {
        return sql.number("select sum(length(content)) from sandbox_files where sandbox_id = ?", sandbox.value());
    }

    /// Stores the next versions in batches, so that other writers are not blocked for long.
    void write(SandboxId sandbox, List<Step> steps) {
        for (int from = 0; from < steps.size(); from += ROWS_AT_ONCE) {
            List<Step> some = steps.subList(from, Math.min(steps.size(), from + ROWS_AT_ONCE));
            db.write(sql -> {
                write(sql, sandbox, some);
                return some.size();
            });
        }
    }

    private void write(Sql sql, SandboxId sandbox, List<Step> steps) throws SQLException {
        var ended = new ArrayList<List<Object>>();
        var begun = new ArrayList<Step>();
        for (Step step : steps) {
            step.before().ifPresent(old -> ended.add(List.of(step.seq(), sandbox.value(), old.path())));
            if (step.after().isPresent()) {
                begun.add(step);
            }
        }
        if (!ended.isEmpty()) {
            sql.updateAll("update sandbox_files set until_seq = ?" + NOW + " and file_path = ?", ended);
            // A past version without content has no value for the history.
            sql.update(
                    "delete from sandbox_files where sandbox_id = ? and until_seq is not null"
                            + " and (content is null or seq >= until_seq)",
                    sandbox.value());
        }
        for (Step step : begun) {
            insert(sql, sandbox, step.after().orElseThrow(), step.seq());
        }
    }

    private void insert(Sql sql, SandboxId sandbox, Version version, long seq) throws SQLException {
        sql.update(
                "insert into sandbox_files (sandbox_id, file_path, seq, file_type, size_bytes, sha256, modified_ns, content)"
                        + " values (?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing",
                sandbox.value(),
                version.path(),
                seq,
                version.type().text(),
                version.size(),
                version.sha256().orElse(null),
                nanos(version.modified()),
                version.content().map(mask).orElse(null));
    }

    /// Updates current versions with content that was read later.
    void updateContent(SandboxId sandbox, List<Version> versions) {
        db.write(sql -> {
            for (Version version : versions) {
                sql.update(
                        "update sandbox_files set sha256 = ?, content = ?, size_bytes = ?, modified_ns = ?" + NOW
                                + " and file_path = ?",
                        version.sha256().orElse(null),
                        version.content().map(mask).orElse(null),
                        version.size(),
                        nanos(version.modified()),
                        sandbox.value(),
                        version.path());
            }
            return versions.size();
        });
    }

    /// Deletes the older half of the past versions if the limit is exceeded. Returns the number of remaining
    /// characters.
    long makeRoom(SandboxId sandbox, long characters) {
        if (characters <= MAX_CHARACTERS) {
            return characters;
        }
        return db.write(sql -> {
            sql.update(
                    "delete from sandbox_files where sandbox_id = ? and until_seq <= (select (min(until_seq) + max(until_seq)) / 2"
                            + " from sandbox_files where sandbox_id = ?)",
                    sandbox.value(),
                    sandbox.value());
            return characters(sql, sandbox);
        });
    }

    static boolean hasRoom(long characters) {
        return characters <= MAX_CHARACTERS;
    }

    private static long nanos(Instant moment) {
        return Math.addExact(Math.multiplyExact(moment.getEpochSecond(), NANOS), moment.getNano());
    }

    private static Version read(ResultSet row) throws SQLException {
        long nanos = row.getLong(4);
        return new Version(
                row.getString(1),
                TextEnum.of(FileEntry.Type.class, row.getString(2)),
                row.getLong(3),
                Instant.ofEpochSecond(Math.floorDiv(nanos, NANOS), Math.floorMod(nanos, NANOS)),
                Optional.ofNullable(row.getString(5)),
                Optional.ofNullable(row.getString(7)),
                row.getLong(6));
    }
}
