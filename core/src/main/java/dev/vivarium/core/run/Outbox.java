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

/// Events that tell of a change in the store. Each is written down with the change, in one transaction, and then goes
/// to the log: a server that dies between the two leaves it here for the next one. Thread-safe.
public final class Outbox {
    private static final Logger LOG = LoggerFactory.getLogger(Outbox.class);

    private final Db db;
    private final EventLog log;
    private final InstantSource clock;
    private final AtomicLong newest = new AtomicLong();

    /// Whether something may lie here that nobody is about to send.
    private final AtomicBoolean isLeft = new AtomicBoolean(true);

    /// Sends what the server before has left.
    public Outbox(Db db, EventLog log, InstantSource clock) {
        this.db = db;
        this.log = log;
        this.clock = clock;
        sendLeft();
    }

    /// What happened to a sandbox. Its event has an id, so that it is kept once however often it is sent.
    record Letter(SandboxId sandbox, NewEvent event) {
        String id() {
            return event.id().orElseThrow();
        }
    }

    /// Writes it down; for the transaction that makes the change.
    Letter put(Sql sql, SandboxId sandbox, NewEvent event) throws SQLException {
        var letter = new Letter(sandbox, event);
        sql.update(
                "insert into sandbox_outbox (sandbox_id, event_id, event_type, event_data, source, created_at)"
                        + " values (?, ?, ?, ?, ?, ?) on conflict do nothing",
                sandbox.value(),
                letter.id(),
                event.type(),
                event.data(log.codec()),
                event.source(),
                // Never the same twice: they are told in this order.
                newest.updateAndGet(last -> Math.max(last + 1, clock.millis())));
        return letter;
    }

    /// Brings it to the log, after the commit, and returns when it is there. The change stands: where the log
    /// cannot take it now, it stays here until [#sendLeft].
    void send(Letter letter) {
        try {
            deliver(letter);
        } catch (SandboxException e) {
            LOG.warn("{} of {} is told later: {}", letter.event().type(), letter.sandbox(), e.getMessage());
            isLeft.set(true);
        }
    }

    /// Sends what could not be sent before. Costs nothing when there was no such thing.
    void sendLeft() {
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

    private void deliver(Letter letter) {
        log.append(letter.sandbox(), letter.event());
        db.write(sql -> sql.update(
                "delete from sandbox_outbox where sandbox_id = ? and event_id = ?",
                letter.sandbox().value(),
                letter.id()));
    }

    private static Letter read(ResultSet row) throws SQLException {
        return new Letter(
                new SandboxId(row.getString("sandbox_id")),
                new NewEvent(
                        Optional.of(row.getString("event_id")),
                        row.getString("event_type"),
                        row.getString("event_data"),
                        row.getString("source")));
    }
}
