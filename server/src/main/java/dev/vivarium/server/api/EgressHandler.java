package dev.vivarium.server.api;

import dev.vivarium.core.access.Audit;
import dev.vivarium.core.access.AuditEntry;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.json.EgressJson;
import dev.vivarium.model.Egress;
import dev.vivarium.server.http.Exchange;
import java.io.IOException;
import java.time.InstantSource;

/// `/threads/{thread_id}/egress`: which hosts outside the thread's sandbox may reach. Thread-safe.
public final class EgressHandler {
    private final Sandboxes sandboxes;
    private final ThreadCallers callers;
    private final Audit audit;
    private final InstantSource clock;

    public EgressHandler(Sandboxes sandboxes, ThreadCallers callers, Audit audit, InstantSource clock) {
        this.sandboxes = sandboxes;
        this.callers = callers;
        this.audit = audit;
        this.clock = clock;
    }

    /// `GET`: for everybody who may use the thread.
    public void show(Exchange exchange) throws IOException {
        exchange.allowQuery();
        answer(exchange, callers.sandbox(callers.require(exchange)));
    }

    /// `PUT`: for the owner, with a key. What is inside never widens its own way out.
    public void change(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var visit = callers.requireOwner(exchange);
        Egress list = EgressJson.read(exchange.json());
        Sandbox sandbox = callers.sandbox(visit);
        sandboxes.allow(sandbox, list);
        audit.record(AuditEntry.of(clock.instant(), AuditEntry.Kind.ALLOWED, 200, "PUT /threads/{thread_id}/egress")
                .by(exchange.principal())
                .on(sandbox.id(), visit.thread())
                .detail(list.isEmpty() ? "none" : String.join(" ", list.texts())));
        answer(exchange, sandbox);
    }

    private static void answer(Exchange exchange, Sandbox sandbox) throws IOException {
        var info = sandbox.info();
        exchange.answer(200, out -> {
            out.writeStringProperty("thread_id", info.thread().value());
            out.writeStringProperty("sandbox_id", info.id().value());
            EgressJson.write(out, sandbox.sandboxEgress().allowed());
        });
    }
}
