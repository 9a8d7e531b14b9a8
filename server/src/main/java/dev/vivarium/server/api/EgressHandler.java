package dev.vivarium.server.api;

import static dev.vivarium.json.IdTypes.SANDBOX_ID;
import static dev.vivarium.json.IdTypes.THREAD_ID;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.server.http.Route.Access.KEY;

import dev.vivarium.core.access.Audit;
import dev.vivarium.core.access.AuditEntry;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.json.EgressJson;
import dev.vivarium.json.JsonType;
import dev.vivarium.json.ObjectType;
import dev.vivarium.model.Egress;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import java.io.IOException;
import java.time.InstantSource;

/// `/threads/{thread_id}/egress`: the egress allow-list of the sandbox of a thread. Thread-safe.
public final class EgressHandler {
    private static final ObjectType<Sandbox> THREAD_EGRESS = object(
            "ThreadEgress",
            field("thread_id", THREAD_ID, sandbox -> sandbox.info().thread()),
            field("sandbox_id", SANDBOX_ID, Sandbox::id),
            field(
                    "allow",
                    JsonType.list(STRING),
                    sandbox -> sandbox.sandboxEgress().allowed().texts()));

    public static final RouteDescription SHOW = RouteDescription.get("/threads/{thread_id}/egress", KEY)
            .named("getEgress", "Return the egress allow-list of a sandbox")
            .answers(200, "The hosts that the sandbox may reach.", THREAD_EGRESS)
            .fails(403, 404);

    public static final RouteDescription CHANGE = RouteDescription.put("/threads/{thread_id}/egress", KEY)
            .named("setEgress", "Change the egress allow-list of a sandbox")
            .takes(EgressJson.EGRESS)
            .answers(200, """
                    The new list. The server closes connections to hosts that are no longer allowed.""", THREAD_EGRESS)
            .fails(403, 404);

    private final Sandboxes sandboxes;
    private final ThreadResolver resolver;
    private final Audit audit;
    private final InstantSource clock;

    public EgressHandler(Sandboxes sandboxes, ThreadResolver resolver, Audit audit, InstantSource clock) {
        this.sandboxes = sandboxes;
        this.resolver = resolver;
        this.audit = audit;
        this.clock = clock;
    }

    /// `GET`: for the owner and all members.
    public void show(Exchange exchange) throws IOException {
        exchange.answer(200, THREAD_EGRESS, resolver.sandbox(resolver.require(exchange)));
    }

    /// `PUT`: for the owner, with a key. A program in the sandbox cannot extend the list.
    public void change(Exchange exchange) throws IOException {
        var access = resolver.requireOwner(exchange);
        Egress list = exchange.json(EgressJson.EGRESS);
        Sandbox sandbox = resolver.sandbox(access);
        sandboxes.allow(sandbox, list);
        exchange.markAudited();
        audit.record(AuditEntry.of(clock.instant(), AuditEntry.Kind.ALLOWED, 200, CHANGE.route())
                .by(exchange.principal())
                .on(sandbox.id(), access.key())
                .detail(list.isEmpty() ? "none" : String.join(" ", list.texts())));
        exchange.answer(200, THREAD_EGRESS, sandbox);
    }
}
