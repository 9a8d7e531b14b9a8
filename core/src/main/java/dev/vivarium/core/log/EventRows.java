package dev.vivarium.core.log;

import dev.vivarium.core.store.Sql;
import dev.vivarium.model.Event;
import dev.vivarium.model.LogId;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.TaskId;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/// Database rows of the log. Stateless; each method runs in the transaction of the caller.
final class EventRows {
    private static final String COLUMNS =
            "sandbox_id, seq, event_id, event_type, event_data, source, created_at, task_id";
    private static final String INSERT = "insert into sandbox_events (" + COLUMNS + ") values (?, ?, ?, ?, ?, ?, ?, ?)";

    /// Number of ids in one query. Shorter lists are padded, so that the statement is prepared once.
    private static final int IDS_AT_ONCE = 64;

    private static final String BY_ID =
            "select " + COLUMNS + " from sandbox_events where event_id <> '' and (event_id, sandbox_id) in"
                    + " (values " + String.join(", ", Collections.nCopies(IDS_AT_ONCE, "(?, ?)")) + ")";

    private static final String PAGE =
            "select " + COLUMNS + " from sandbox_events where sandbox_id = ? and seq > ? order by seq limit ?";

    private EventRows() {}

    static void insert(Sql sql, List<Event> events) throws SQLException {
        var rows = new ArrayList<List<Object>>(events.size());
        for (Event event : events) {
            rows.add(List.of(
                    event.logId().value(),
                    event.seq(),
                    givenId(event),
                    event.type(),
                    event.data(),
                    event.source(),
                    event.at().toEpochMilli(),
                    event.task().map(TaskId::value).orElse("")));
        }
        sql.updateAll(INSERT, rows);
    }

    /// An id that is derived from the number is not stored, which keeps it out of the id index.
    private static String givenId(Event event) {
        return event.id().equals(Event.idOf(event.logId(), event.seq())) ? "" : event.id();
    }

    /// Returns the number of the newest event, or zero.
    static long head(Sql sql, LogId logId) throws SQLException {
        return sql.number("select max(seq) from sandbox_events where sandbox_id = ?", logId.value());
    }

    /// Key that identifies a repeated event.
    record Name(LogId logId, String id) {}

    /// Returns the events with these keys. The query matches the log too, because the same id may exist in many
    /// logs.
    static List<Event> named(Sql sql, List<Name> names) throws SQLException {
        var found = new ArrayList<Event>();
        for (int from = 0; from < names.size(); from += IDS_AT_ONCE) {
            var padded = new Object[2 * IDS_AT_ONCE];
            for (int i = 0; i < IDS_AT_ONCE; i++) {
                Name name = names.get(Math.min(from + i, names.size() - 1));
                padded[2 * i] = name.id;
                padded[2 * i + 1] = name.logId.value();
            }
            found.addAll(sql.list(BY_ID, EventRows::read, padded));
        }
        return found;
    }

    static List<Event> list(Sql sql, LogId logId, Query query) throws SQLException {
        return list(sql, logId, query, Long.MAX_VALUE, "seq");
    }

    /// Returns the events before a number, newest first.
    static List<Event> listBefore(Sql sql, LogId logId, Query query, long beforeSeq) throws SQLException {
        return list(sql, logId, query, beforeSeq, "seq desc");
    }

    private static List<Event> list(Sql sql, LogId logId, Query query, long beforeSeq, String order)
            throws SQLException {
        var text = new StringBuilder(
                "select " + COLUMNS + " from sandbox_events where sandbox_id = ? and seq > ? and seq < ?");
        var arguments = new ArrayList<Object>(List.of(logId.value(), query.afterSeq(), beforeSeq));
        query.since().ifPresent(since -> {
            text.append(" and created_at >= ?");
            arguments.add(since.toEpochMilli());
        });
        query.type().ifPresent(type -> {
            boolean isPrefix = type.endsWith(".");
            text.append(isPrefix ? " and substr(event_type, 1, ?) = ?" : " and event_type = ?");
            if (isPrefix) {
                arguments.add(type.length());
            }
            arguments.add(type);
        });
        text.append(" order by ").append(order).append(" limit ?");
        arguments.add(query.limit());
        arguments.add(Query.MAX_CHARACTERS);
        return sql.list(bounded(text.toString(), order), EventRows::read, arguments.toArray());
    }

    /// Returns the events that the server itself appended, newest first.
    static List<Event> newest(Sql sql, LogId logId, String prefix, int limit) throws SQLException {
        String text = "select " + COLUMNS + " from sandbox_events where sandbox_id = ? and source = ?"
                + " and substr(event_type, 1, ?) = ? order by seq desc limit ?";
        return sql.list(
                bounded(text, "seq desc"),
                EventRows::read,
                logId.value(),
                NewEvent.OURS,
                prefix.length(),
                prefix,
                limit,
                Query.MAX_CHARACTERS);
    }

    /// Bounds the rows of a query by the total size of their data (the last argument), with at least one row. The
    /// database counts, because a driver may buffer the whole result.
    private static String bounded(String query, String order) {
        return "select " + COLUMNS + " from (select " + COLUMNS + ", sum(length(event_data)) over (order by " + order
                + ") - length(event_data) as ahead from (" + query + ") as asked) as counted where ahead < ? order by "
                + order;
    }

    /// Returns the events after a number, within the limits of one read, but at least one.
    static List<Event> page(Sql sql, LogId logId, long afterSeq) throws SQLException {
        var room = new int[] {RecentEvents.CHARACTERS_AT_ONCE};
        return sql.listWhile(
                PAGE,
                EventRows::read,
                event -> (room[0] -= event.data().length()) > 0,
                logId.value(),
                afterSeq,
                RecentEvents.EVENTS_AT_ONCE);
    }

    /// Returns the oldest events after a number that have one of these types.
    static List<Event> ofTypes(Sql sql, LogId logId, long afterSeq, EventTypes types, int limit) throws SQLException {
        if (types.isNone()) {
            return List.of();
        }
        var arguments = new ArrayList<Object>(List.of(logId.value(), afterSeq));
        String condition = types.condition(arguments);
        arguments.add(limit);
        return sql.list(
                "select " + COLUMNS + " from sandbox_events where sandbox_id = ? and seq > ? and (" + condition
                        + ") order by seq limit ?",
                EventRows::read,
                arguments.toArray());
    }

    /// Returns the number of the oldest event, or zero.
    static long first(Sql sql, LogId logId) throws SQLException {
        return sql.number("select min(seq) from sandbox_events where sandbox_id = ?", logId.value());
    }

    static boolean hasOlder(Sql sql, LogId logId, Instant before) throws SQLException {
        return sql.first(
                        "select created_at from sandbox_events where sandbox_id = ? order by seq limit 1",
                        row -> row.getLong(1),
                        logId.value())
                .filter(at -> at < before.toEpochMilli())
                .isPresent();
    }

    /// Returns the last number that retention deletes: older than `before`, or beyond the newest `characters` of
    /// data. Returns zero if retention deletes nothing.
    static long lastExpired(Sql sql, LogId logId, Instant before, long characters) throws SQLException {
        return sql.number(
                "select max(seq) from (select seq, created_at, sum(length(event_data)) over (order by seq desc) as kept"
                        + " from sandbox_events where sandbox_id = ?) as newest where created_at < ? or kept > ?",
                logId.value(),
                before.toEpochMilli(),
                characters);
    }

    /// Deletes the logs of sandboxes that have no row and no event since `before`.
    static int deleteUnknown(Sql sql, Instant before) throws SQLException {
        return sql.update(
                "delete from sandbox_events where sandbox_id in (select sandbox_id from sandbox_events"
                        + " where sandbox_id not in (select id from sandboxes) and sandbox_id like 'sbx%'"
                        + " group by sandbox_id having max(created_at) < ?)",
                before.toEpochMilli());
    }

    static int deleteUntil(Sql sql, LogId logId, long seq) throws SQLException {
        return sql.update("delete from sandbox_events where sandbox_id = ? and seq <= ?", logId.value(), seq);
    }

    static List<LogId> logs(Sql sql) throws SQLException {
        return sql.list("select distinct sandbox_id from sandbox_events", row -> LogId.of(row.getString(1)));
    }

    private static Event read(ResultSet row) throws SQLException {
        var logId = LogId.of(row.getString(1));
        long seq = row.getLong(2);
        String given = row.getString(3);
        return new Event(
                logId,
                seq,
                given.isEmpty() ? Event.idOf(logId, seq) : given,
                row.getString(4),
                row.getString(5),
                row.getString(6),
                Instant.ofEpochMilli(row.getLong(7)),
                Optional.of(row.getString(8)).filter(task -> !task.isEmpty()).map(TaskId::new));
    }
}
