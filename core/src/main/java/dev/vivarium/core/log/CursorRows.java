package dev.vivarium.core.log;

import dev.vivarium.core.store.Sql;
import dev.vivarium.model.LogId;
import java.sql.SQLException;
import java.util.List;

/// Rows of the cursors of named readers: for each reader and log, the number of the last event that the reader has
/// handled. Stateless; each method runs in the transaction of the caller.
final class CursorRows {
    private CursorRows() {}

    /// Returns the cursor of a reader in one log, or zero.
    static long seq(Sql sql, String reader, LogId logId) throws SQLException {
        return sql.number("select seq from event_cursors where reader = ? and sandbox_id = ?", reader, logId.value());
    }

    /// Advances a cursor. A cursor never moves backwards.
    static void advance(Sql sql, String reader, LogId logId, long seq) throws SQLException {
        sql.update(
                "insert into event_cursors (reader, sandbox_id, seq) values (?, ?, ?)"
                        + " on conflict (reader, sandbox_id) do update set seq = excluded.seq"
                        + " where event_cursors.seq < excluded.seq",
                reader,
                logId.value(),
                seq);
    }

    /// Returns the logs that have events after the cursor of a reader.
    static List<LogId> behind(Sql sql, String reader) throws SQLException {
        return sql.list(
                "select log.sandbox_id from"
                        + " (select sandbox_id, max(seq) as head from sandbox_events group by sandbox_id) as log"
                        + " left join event_cursors as cursor_of on cursor_of.reader = ?"
                        + " and cursor_of.sandbox_id = log.sandbox_id"
                        + " where log.head > coalesce(cursor_of.seq, 0)",
                row -> LogId.of(row.getString(1)),
                reader);
    }

    /// Deletes the cursors of deleted logs.
    static void deleteUnknown(Sql sql) throws SQLException {
        sql.update("delete from event_cursors where not exists"
                + " (select 1 from sandbox_events where sandbox_events.sandbox_id = event_cursors.sandbox_id)");
    }
}
