package dev.vivarium.server.api;

import dev.vivarium.core.access.Members;
import dev.vivarium.core.access.Threads;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.json.Json;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.operation.EndSandbox;
import java.io.IOException;
import tools.jackson.core.JsonGenerator;

/// The life of a thread's sandbox: found, kept, released, and archived with its thread. Thread-safe.
public final class ThreadHandler {
    private final Sandboxes sandboxes;
    private final ThreadCallers callers;
    private final Threads threads;
    private final Members members;
    private final Endpoints endpoints;
    private final EndSandbox end;

    public ThreadHandler(
            Sandboxes sandboxes,
            ThreadCallers callers,
            Threads threads,
            Members members,
            Endpoints endpoints,
            EndSandbox end) {
        this.sandboxes = sandboxes;
        this.callers = callers;
        this.threads = threads;
        this.members = members;
        this.endpoints = endpoints;
        this.end = end;
    }

    /// `GET /threads/{thread_id}/sandbox`: which one it is, how it is, and what the caller may ask for.
    public void find(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var visit = callers.require(exchange);
        var info = callers.sandbox(visit).info();
        exchange.answer(200, out -> {
            write(out, info);
            endpoints.write(out, exchange, info.id());
            TokenAnswer.writeScopes(out, visit.scopes());
        });
    }

    /// `POST /threads/{thread_id}/heartbeat`: extends the lease. People and agents may, with a key or a token.
    public void heartbeat(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var visit = callers.require(exchange);
        exchange.optionalJson().refuseOthers();
        var sandbox = callers.sandbox(visit);
        sandbox.touch();
        exchange.answer(200, out -> write(out, sandbox.info()));
    }

    /// `DELETE /threads/{thread_id}/sandbox`: ends it; the thread can have another.
    public void release(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var visit = callers.requireOwner(exchange);
        var sandbox = callers.sandbox(visit);
        end(exchange, sandbox, "DELETE /threads/{thread_id}/sandbox");
        exchange.answer(200, out -> {
            out.writeStringProperty("status", "released");
            out.writeStringProperty("thread_id", visit.thread().value());
            out.writeStringProperty("sandbox_id", sandbox.id().value());
        });
    }

    /// `DELETE /threads/{thread_id}`: ends its sandbox, deletes its snapshots, takes all invitations back and shows
    /// it no more.
    public void archive(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var visit = callers.requireOwner(exchange);
        sandboxes.find(visit.thread()).ifPresent(sandbox -> end(exchange, sandbox, "DELETE /threads/{thread_id}"));
        sandboxes.snapshots().deleteAll(visit.thread());
        members.removeAll(visit.thread());
        threads.archive(visit.thread());
        exchange.answer(200, out -> {
            out.writeStringProperty("status", "archived");
            out.writeStringProperty("thread_id", visit.thread().value());
        });
    }

    private void end(Exchange exchange, Sandbox sandbox, String route) {
        end.end(exchange.principal(), new EndSandbox.Request(sandbox, "released by request", route));
    }

    /// A sandbox as the routes of threads show it.
    static void write(JsonGenerator out, SandboxInfo info) {
        out.writeStringProperty("sandbox_id", info.id().value());
        out.writeStringProperty("thread_id", info.thread().value());
        out.writeStringProperty("user_id", info.user().value());
        out.writeStringProperty("state", info.status().label());
        info.stateReason().ifPresent(why -> out.writeStringProperty("state_reason", why));
        Json.time(out, "created_at", info.createdAt());
        Json.time(out, "last_activity", info.lastActivity());
        Json.time(out, "lease_expires_at", info.expiresAt());
        Json.time(out, "ends_at", info.endsAt());
    }
}
