package dev.vivarium.server.api;

import dev.vivarium.core.access.Audit;
import dev.vivarium.core.access.AuditEntry;
import dev.vivarium.core.run.Agents;
import dev.vivarium.core.run.Runs;
import dev.vivarium.core.sandbox.PauseReason;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.json.RunJson;
import dev.vivarium.model.End;
import dev.vivarium.server.http.Exchange;
import java.io.IOException;
import java.time.InstantSource;

/// `DELETE /api/v1/sandboxes/{sandbox_id}`, `POST …/pause` and `…/resume`: ends, freezes and thaws a sandbox with
/// all that runs in it; where machines cannot be frozen, its worker holds the agent. Thread-safe.
public final class RunLifeHandler {
    private final Sandboxes sandboxes;
    private final Callers callers;
    private final Agents agents;
    private final Runs runs;
    private final Audit audit;
    private final InstantSource clock;

    public RunLifeHandler(
            Sandboxes sandboxes, Callers callers, Agents agents, Runs runs, Audit audit, InstantSource clock) {
        this.sandboxes = sandboxes;
        this.callers = callers;
        this.agents = agents;
        this.runs = runs;
        this.audit = audit;
        this.clock = clock;
    }

    public void end(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var sandbox = callers.find(exchange.principal(), exchange.path("sandbox_id"));
        var info = sandbox.info();
        sandboxes.terminate(sandbox.id(), End.Cause.USER, "ended by request");
        audit.record(AuditEntry.of(clock.instant(), AuditEntry.Kind.ENDED, 200, "DELETE /api/v1/sandboxes/{sandbox_id}")
                .by(exchange.principal())
                .on(info.id(), info.thread()));
        exchange.answer(200, out -> {
            out.writeStringProperty("sandbox_id", info.id().value());
            out.writeStringProperty("status", "terminated");
        });
    }

    public void pause(Exchange exchange) throws IOException {
        exchange.allowQuery();
        agents.pause(exchange.sandbox(), PauseReason.by(exchange.principal().name()));
        answer(exchange, exchange.sandbox());
    }

    public void resume(Exchange exchange) throws IOException {
        exchange.allowQuery();
        agents.resume(exchange.sandbox(), PauseReason.by(exchange.principal().name()));
        answer(exchange, exchange.sandbox());
    }

    private void answer(Exchange exchange, Sandbox sandbox) throws IOException {
        var info = sandbox.info();
        var run = runs.find(info.id());
        exchange.answer(200, out -> {
            out.writeStringProperty("sandbox_id", info.id().value());
            out.writeStringProperty("status", RunJson.status(info, run));
            out.writeStringProperty("state", info.status().label());
        });
    }
}
