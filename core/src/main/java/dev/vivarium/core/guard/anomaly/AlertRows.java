package dev.vivarium.core.guard.anomaly;

import dev.vivarium.core.store.Sql;
import dev.vivarium.model.Alert;
import dev.vivarium.model.LogId;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.TaskLog;
import dev.vivarium.model.TextEnum;
import dev.vivarium.model.UserId;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Rows of alerts. Stateless; each method runs in the transaction of the caller.
final class AlertRows {
    private AlertRows() {}

    /// Stores an alert, once for each event. The number of the given alert is ignored.
    static void insert(Sql sql, Alert alert) throws SQLException {
        Alert.Notice notice = alert.notice();
        sql.update(
                "insert into alerts (alert_number, user_id, at, type, severity, title, detail, sandbox_id, run_id,"
                        + " task_id, log_id, seq) values ((select coalesce(max(alert_number), 0) + 1 from alerts),"
                        + " ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (log_id, seq) do nothing",
                alert.owner().value(),
                alert.at().toEpochMilli(),
                notice.type(),
                notice.severity().text(),
                notice.title(),
                notice.detail(),
                notice.sandbox().orElse(null),
                notice.run().orElse(null),
                notice.task().orElse(null),
                alert.logId().value(),
                alert.seq());
    }

    /// Returns the owner of a log. Empty if the sandbox is unknown.
    static Optional<UserId> owner(Sql sql, LogId logId) throws SQLException {
        return switch (logId) {
            case TaskLog(var owner) -> Optional.of(owner);
            case SandboxId sandbox ->
                sql.first(
                        "select user_id from sandboxes where id = ?",
                        row -> new UserId(row.getString(1)),
                        sandbox.value());
        };
    }

    /// Returns alerts, oldest first: the first ones after a number, or the newest.
    static List<Alert> list(Sql sql, AlertFilter filter) throws SQLException {
        @Nullable String user = filter.user().map(UserId::value).orElse(null);
        @Nullable String severity = filter.severity().map(Alert.Severity::text).orElse(null);
        String order = filter.after().isPresent() ? "" : " desc";
        List<Alert> found = sql.list(
                "select * from alerts where alert_number > ? and (cast(? as text) is null or user_id = ?)"
                        + " and (cast(? as text) is null or severity = ?) order by alert_number" + order + " limit ?",
                AlertRows::read,
                filter.after().orElse(0L),
                user,
                user,
                severity,
                severity,
                filter.limit());
        return filter.after().isPresent() ? found : found.reversed();
    }

    static Optional<Alert> find(Sql sql, long number) throws SQLException {
        return sql.first("select * from alerts where alert_number = ?", AlertRows::read, number);
    }

    /// Keeps the first acknowledgement.
    static void acknowledge(Sql sql, long number, Alert.Acknowledgement by) throws SQLException {
        sql.update(
                "update alerts set acknowledged_by = ?, acknowledged_at = ? where alert_number = ?"
                        + " and acknowledged_at is null",
                by.by().value(),
                by.at().toEpochMilli(),
                number);
    }

    /// Deletes the alerts before a time, but never the newest, which holds the last number.
    static int prune(Sql sql, Instant before) throws SQLException {
        return sql.update(
                "delete from alerts where at < ? and alert_number < (select max(alert_number) from alerts)",
                before.toEpochMilli());
    }

    private static Alert read(ResultSet row) throws SQLException {
        Optional<String> by = Optional.ofNullable(row.getString("acknowledged_by"));
        Instant acknowledgedAt = Instant.ofEpochMilli(row.getLong("acknowledged_at"));
        return new Alert(
                row.getLong("alert_number"),
                new UserId(row.getString("user_id")),
                Instant.ofEpochMilli(row.getLong("at")),
                new Alert.Notice(
                        row.getString("type"),
                        TextEnum.of(Alert.Severity.class, row.getString("severity")),
                        row.getString("title"),
                        row.getString("detail"),
                        Optional.ofNullable(row.getString("sandbox_id")),
                        Optional.ofNullable(row.getString("run_id")),
                        Optional.ofNullable(row.getString("task_id"))),
                LogId.of(row.getString("log_id")),
                row.getLong("seq"),
                by.map(name -> new Alert.Acknowledgement(new UserId(name), acknowledgedAt)));
    }
}
