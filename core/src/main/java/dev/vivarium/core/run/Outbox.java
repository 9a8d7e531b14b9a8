package dev.vivarium.core.run;

import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.Sql;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.SandboxId;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.InstantSource;
import java.util.Optional;

/// Events that tell of a change in the store. Each is written down with the change, in one transaction, and then goes
/// to the log: a server that dies between the two leaves it here for the next one. Thread-safe.
public final class Outbox {
    private final Db db;
    private final EventLog log;
    private final InstantSource clock;

    /// Sends what the server before has left.
    public Outbox(Db db, EventLog log, InstantSource clock) {
        this.db = db;
        this.log = log;
        this.clock = clock;
        db.read(sql -> sql.list("select * from sandbox_outbox order by created_at", Outbox::read))
                .forEach(this::send);
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
                event.data(),
                event.source(),
                clock.millis());
        return letter;
    }

    /// Brings it to the log, after the commit, and returns when it is there.
    void send(Letter letter) {
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
