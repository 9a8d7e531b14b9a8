package dev.vivarium.server.api;

import dev.vivarium.core.access.Audit;
import dev.vivarium.core.access.AuditEntry;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.json.RunJson;
import dev.vivarium.model.End;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.operation.PauseSandbox;
import java.io.IOException;
import java.time.InstantSource;

/// `DELETE /api/v1/sandboxes/{sandbox_id}`, `POST …/pause` and `…/resume`. Thread-safe.
public final class RunLifeHandler {
    private final Sandboxes sandboxes;
    private final Callers callers;
    private final PauseSandbox pause;
    private final Audit audit;
    private final InstantSource clock;

    public RunLifeHandler(Sandboxes sandboxes, Callers callers, PauseSandbox pause, Audit audit, InstantSource clock) {
        this.sandboxes = sandboxes;
        this.callers = callers;
        this.pause = pause;
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
        answer(exchange, pause.pause(exchange.principal(), exchange.sandbox()));
    }

    public void resume(Exchange exchange) throws IOException {
        exchange.allowQuery();
        answer(exchange, pause.resume(exchange.principal(), exchange.sandbox()));
    }

    private static void answer(Exchange exchange, PauseSandbox.Result result) throws IOException {
        var info = result.sandbox();
        exchange.answer(200, out -> {
            out.writeStringProperty("sandbox_id", info.id().value());
            out.writeStringProperty("status", RunJson.status(info, result.run()));
            out.writeStringProperty("state", info.status().label());
        });
    }
}
