package dev.vivarium.core.guard.anomaly;

import dev.vivarium.core.store.Sql;
import java.sql.SQLException;
import java.time.Instant;

/// Rows of baselines. Stateless; each method runs in the transaction of the caller.
final class BaselineRows {
    private BaselineRows() {}

    /// @param alertedAt time of the last anomaly, in milliseconds, or zero
    record Row(Baseline baseline, long alertedAt) {
        static final Row EMPTY = new Row(Baseline.EMPTY, 0);
    }

    static Row find(Sql sql, String scope, Metric metric) throws SQLException {
        return sql.first(
                        "select samples, mean, variance, recent, alerted_at from baselines"
                                + " where scope = ? and metric = ?",
                        row -> new Row(
                                new Baseline(row.getLong(1), row.getDouble(2), row.getDouble(3), row.getDouble(4)),
                                row.getLong(5)),
                        scope,
                        metric.text())
                .orElse(Row.EMPTY);
    }

    static void store(Sql sql, String scope, Metric metric, Row row, Instant now) throws SQLException {
        sql.update(
                "insert into baselines (scope, metric, samples, mean, variance, recent, alerted_at, updated_at)"
                        + " values (?, ?, ?, ?, ?, ?, ?, ?) on conflict (scope, metric) do update set"
                        + " samples = excluded.samples, mean = excluded.mean, variance = excluded.variance,"
                        + " recent = excluded.recent, alerted_at = excluded.alerted_at,"
                        + " updated_at = excluded.updated_at",
                scope,
                metric.text(),
                row.baseline.samples(),
                row.baseline.mean(),
                row.baseline.variance(),
                row.baseline.recent(),
                row.alertedAt,
                now.toEpochMilli());
    }

    /// Deletes the baselines without a value since a time.
    static int prune(Sql sql, Instant before) throws SQLException {
        return sql.update("delete from baselines where updated_at < ?", before.toEpochMilli());
    }
}
