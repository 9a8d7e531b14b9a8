package dev.vivarium.core.run;

import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.Sql;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.InstantSource;
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
    record PendingEvent(SandboxId sandbox, NewEvent event) {
        String id() {
            return event.id().orElseThrow();
        }
    }

    /// Stores an event in the transaction of the change.
    PendingEvent put(Sql sql, SandboxId sandbox, NewEvent event) throws SQLException {
        var pending = new PendingEvent(sandbox, event);
        sql.update(
                "insert into sandbox_outbox (sandbox_id, event_id, event_type, event_data, source, created_at)"
                        + " values (?, ?, ?, ?, ?, ?) on conflict do nothing",
                sandbox.value(),
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
    void send(PendingEvent pending) {
        try {
            deliver(pending);
        } catch (SandboxException e) {
            LOG.warn(
                    "The event {} of {} is appended later: {}",
                    pending.event().type(),
                    pending.sandbox(),
                    e.getMessage());
            isLeft.set(true);
        }
    }

    /// Appends the events whose append failed.
    void sendPending() {
        if (!isLeft.getAndSet(false)) {
            return;
        }
        try {
            db.read(sql -> sql.list("select * from sandbox_outbox order by created_at", Outbox::read))
                    .forEach(this::send);
        } catch (SandboxException e) {
            isLeft.set(true);
            throw e;
        }
    }

    private void deliver(PendingEvent pending) {
        log.append(pending.sandbox(), pending.event());
        db.write(sql -> sql.update(
                "delete from sandbox_outbox where sandbox_id = ? and event_id = ?",
                pending.sandbox().value(),
                pending.id()));
    }

    private static PendingEvent read(ResultSet row) throws SQLException {
        return new PendingEvent(
                new SandboxId(row.getString("sandbox_id")),
                new NewEvent(
                        Optional.of(row.getString("event_id")),
                        row.getString("event_type"),
                        row.getString("event_data"),
                        row.getString("source")));
    }
}
