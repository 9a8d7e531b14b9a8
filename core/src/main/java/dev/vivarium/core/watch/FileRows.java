package dev.vivarium.core.watch;

import dev.vivarium.core.store.Sql;
import dev.vivarium.model.FileEntry;
import dev.vivarium.model.SandboxId;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Database rows of file versions. Each row is valid from event `seq` up to event `until_seq`, if set. Stateless; each
/// method runs in the transaction of the caller.
final class FileRows {
    private static final String NOW = " where sandbox_id = ? and until_seq is null";
    private static final String PROPERTIES = "file_path, file_type, size_bytes, modified_ns, sha256, seq";
    private static final long NANOS = 1_000_000_000L;

    /// Number of paths in one query. Shorter lists are padded, so that the statement is prepared once.
    private static final int AT_ONCE = 32;

    private static final String BY_PATH = "select " + PROPERTIES + ", content from sandbox_files" + NOW
            + " and file_path in (" + String.join(", ", Collections.nCopies(AT_ONCE, "?")) + ")";

    private FileRows() {}

    /// Next version of a path; `after` is empty if the path was deleted.
    ///
    /// @param before last known version
    record Step(Optional<Version> before, Optional<Version> after, long seq) {}

    /// Returns all current versions, without content.
    static List<Version> current(Sql sql, SandboxId sandbox) throws SQLException {
        return sql.list("select " + PROPERTIES + ", null from sandbox_files" + NOW, FileRows::version, sandbox.value());
    }

    /// Returns the current versions of these paths.
    static List<Version> current(Sql sql, SandboxId sandbox, List<String> paths) throws SQLException {
        var found = new ArrayList<Version>();
        for (int from = 0; from < paths.size(); from += AT_ONCE) {
            var arguments = new Object[AT_ONCE + 1];
            arguments[0] = sandbox.value();
            for (int i = 0; i < AT_ONCE; i++) {
                arguments[i + 1] = paths.get(Math.min(from + i, paths.size() - 1));
            }
            found.addAll(sql.list(BY_PATH, FileRows::version, arguments));
        }
        return found;
    }

    /// Returns all current versions below a directory, without content.
    static List<Version> below(Sql sql, SandboxId sandbox, String directory) throws SQLException {
        String prefix = directory + "/";
        return sql.list(
                "select " + PROPERTIES + ", null from sandbox_files" + NOW + " and substr(file_path, 1, ?) = ?",
                FileRows::version,
                sandbox.value(),
                prefix.codePointCount(0, prefix.length()),
                prefix);
    }

    static void write(Sql sql, SandboxId sandbox, List<Step> steps) throws SQLException {
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

    private static void insert(Sql sql, SandboxId sandbox, Version version, long seq) throws SQLException {
        sql.update(
                "insert into sandbox_files (sandbox_id, file_path, seq, file_type, size_bytes, sha256, modified_ns, content)"
                        + " values (?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing",
                sandbox.value(),
                version.path(),
                seq,
                version.type().name().toLowerCase(Locale.ROOT),
                version.size(),
                version.sha256().orElse(null),
                nanos(version.modified()),
                version.content().orElse(null));
    }

    /// Updates a current version with content that was read later.
    static void updateContent(Sql sql, SandboxId sandbox, Version version) throws SQLException {
        sql.update(
                "update sandbox_files set sha256 = ?, content = ?, size_bytes = ?, modified_ns = ?" + NOW
                        + " and file_path = ?",
                version.sha256().orElse(null),
                version.content().orElse(null),
                version.size(),
                nanos(version.modified()),
                sandbox.value(),
                version.path());
    }

    static long lastSeq(Sql sql, SandboxId sandbox) throws SQLException {
        return sql.first(
                        "select max(coalesce(until_seq, seq)) from sandbox_files where sandbox_id = ?",
                        row -> row.getLong(1),
                        sandbox.value())
                .orElse(0L);
    }

    /// Returns the number of stored characters of a sandbox.
    static long characters(Sql sql, SandboxId sandbox) throws SQLException {
        return sql.first(
                        "select sum(length(content)) from sandbox_files where sandbox_id = ?",
                        row -> row.getLong(1),
                        sandbox.value())
                .orElse(0L);
    }

    /// Deletes the older half of the past versions.
    static void forget(Sql sql, SandboxId sandbox) throws SQLException {
        sql.update(
                "delete from sandbox_files where sandbox_id = ? and until_seq <= (select (min(until_seq) + max(until_seq)) / 2"
                        + " from sandbox_files where sandbox_id = ?)",
                sandbox.value(),
                sandbox.value());
    }

    /// Returns the version of `path` when `seq` was the newest event.
    static Optional<Version> at(Sql sql, SandboxId sandbox, String path, long seq) throws SQLException {
        return sql.first(
                "select " + PROPERTIES + ", content from sandbox_files where sandbox_id = ? and file_path = ?"
                        + " and seq <= ? and (until_seq is null or until_seq > ?) order by seq desc limit 1",
                FileRows::version,
                sandbox.value(),
                path,
                seq,
                seq);
    }

    /// Returns the type of the event of the first version after `seq`.
    static Optional<String> firstAfter(Sql sql, SandboxId sandbox, String path, long seq) throws SQLException {
        return sql.first(
                "select e.event_type from sandbox_files f join sandbox_events e on e.sandbox_id = f.sandbox_id and e.seq = f.seq"
                        + " where f.sandbox_id = ? and f.file_path = ? and f.seq > ? order by f.seq limit 1",
                row -> row.getString(1),
                sandbox.value(),
                path,
                seq);
    }

    /// Deletes versions that ended before the oldest stored event. Deletes all versions of an ended sandbox whose
    /// log holds at most one event.
    static int prune(Sql sql) throws SQLException {
        String events = " from sandbox_events e where e.sandbox_id = sandbox_files.sandbox_id";
        int removed = sql.update("delete from sandbox_files where until_seq <= (select min(seq)" + events + ")");
        return removed
                + sql.update("delete from sandbox_files where not exists"
                        + " (select 1 from sandboxes s where s.id = sandbox_files.sandbox_id and s.ended_at is null)"
                        + " and not exists (select 1" + events + " limit 1 offset 1)");
    }

    private static long nanos(Instant moment) {
        return Math.addExact(Math.multiplyExact(moment.getEpochSecond(), NANOS), moment.getNano());
    }

    private static Version version(ResultSet row) throws SQLException {
        long nanos = row.getLong(4);
        return new Version(
                row.getString(1),
                FileEntry.Type.valueOf(row.getString(2).toUpperCase(Locale.ROOT)),
                row.getLong(3),
                Instant.ofEpochSecond(Math.floorDiv(nanos, NANOS), Math.floorMod(nanos, NANOS)),
                present(row.getString(5)),
                present(row.getString(7)),
                row.getLong(6));
    }

    private static Optional<String> present(@Nullable String text) {
        return Optional.ofNullable(text);
    }
}
