package dev.vivarium.core.run;

import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.Sql;
import dev.vivarium.model.LogId;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.SandboxException;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Outbox of events about changes in the store. Thread-safe.
///
/// An event is stored in the transaction of its change, and then appended to the log. If the server crashes in between,
/// the next server appends it.
public final class Outbox {
    private static final Logger LOG = LoggerFactory.getLogger(Outbox.class);

    private final Db db;
    private final EventLog log;
    private final InstantSource clock;
    private final AtomicLong newest = new AtomicLong();

    /// Whether the outbox may contain events of a failed append or of an earlier server.
    private final AtomicBoolean isLeft = new AtomicBoolean(true);

    /// Appends the events that an earlier server left.
    public Outbox(Db db, EventLog log, InstantSource clock) {
        this.db = db;
        this.log = log;
        this.clock = clock;
        sendPending();
    }

    /// Stored event. It has an id, so that the log contains it once however often it is appended.
    public record PendingEvent(LogId logId, NewEvent event) {
        String id() {
            return event.id().orElseThrow();
        }
    }

    /// Stores an event in the transaction of the change.
    public PendingEvent put(Sql sql, LogId logId, NewEvent event) throws SQLException {
        var pending = new PendingEvent(logId, event);
        sql.update(
                "insert into sandbox_outbox (sandbox_id, event_id, event_type, event_data, source, created_at)"
                        + " values (?, ?, ?, ?, ?, ?) on conflict do nothing",
                logId.value(),
                pending.id(),
                event.type(),
                event.data(log.codec()),
                event.source(),
                // Unique, because events are appended in this order.
                newest.updateAndGet(last -> Math.max(last + 1, clock.millis())));
        return pending;
    }

    /// Appends an event after the commit, and returns when it is durable. If the log fails, the event stays in the
    /// outbox until [#sendPending].
    public void send(PendingEvent pending) {
        sendAll(List.of(pending));
    }

    /// Appends events, those of one log in their order. See [#send(PendingEvent)].
    public void sendAll(List<PendingEvent> all) {
        var byLog = new LinkedHashMap<LogId, List<PendingEvent>>();
        all.forEach(pending ->
                byLog.computeIfAbsent(pending.logId, _ -> new ArrayList<>()).add(pending));
        byLog.forEach((logId, some) -> {
            try {
                deliver(logId, some);
            } catch (SandboxException e) {
                String type = some.getFirst().event.type();
                LOG.warn("{} events of {}, first {}, are appended later: {}", some.size(), logId, type, e.getMessage());
                isLeft.set(true);
            }
        });
    }

    /// Appends the events whose append failed.
    void sendPending() {
        if (!isLeft.getAndSet(false)) {
            return;
        }
        try {
            sendAll(db.read(sql -> sql.list("select * from sandbox_outbox order by created_at", Outbox::read)));
        } catch (SandboxException e) {
            isLeft.set(true);
            throw e;
        }
    }

    private void deliver(LogId logId, List<PendingEvent> some) {
        log.append(logId, some.stream().map(PendingEvent::event).toList());
        db.write(sql -> {
            sql.updateAll(
                    "delete from sandbox_outbox where sandbox_id = ? and event_id = ?",
                    some.stream()
                            .map(pending -> List.<Object>of(logId.value(), pending.id()))
                            .toList());
            return logId;
        });
    }

    private static PendingEvent read(ResultSet row) throws SQLException {
        return new PendingEvent(
                LogId.of(row.getString("sandbox_id")),
                new NewEvent(
                        Optional.of(row.getString("event_id")),
                        row.getString("event_type"),
                        row.getString("event_data"),
                        row.getString("source")));
    }
}
