package dev.vivarium.server.api;

import static dev.vivarium.json.IdTypes.SANDBOX_ID;
import static dev.vivarium.json.IdTypes.THREAD_ID;
import static dev.vivarium.json.IdTypes.USER_ID;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.JsonType.TIME;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.json.ObjectType.optional;
import static dev.vivarium.server.http.Route.Access.KEY;
import static dev.vivarium.server.http.Route.Access.TOKEN;

import dev.vivarium.core.access.Members;
import dev.vivarium.core.access.Scopes;
import dev.vivarium.core.access.Threads;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.json.ObjectType;
import dev.vivarium.json.SessionJson;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.ThreadKey;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import dev.vivarium.server.operation.EndSandbox;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/// Lifecycle of the sandbox of a thread: find, heartbeat, release, archive. Thread-safe.
public final class ThreadHandler {
    static final ObjectType<View> SANDBOX = object(
            "ThreadSandbox",
            field("sandbox_id", SANDBOX_ID, view -> view.info().id()),
            field("thread_id", THREAD_ID, view -> view.info().thread()),
            field("user_id", USER_ID, view -> view.info().user()),
            field("state", STRING, view -> view.info().status().text()),
            optional(
                    "state_reason",
                    STRING,
                    SessionJson.STATE_REASON,
                    view -> view.info().stateReason()),
            field("created_at", TIME, view -> view.info().createdAt()),
            field("last_activity", TIME, view -> view.info().lastActivity()),
            field(
                    "expires_at",
                    TIME,
                    "When it ends if it stays idle.",
                    view -> view.info().expiresAt()),
            field("expires_by", SessionJson.EXPIRES_BY, view -> SessionJson.expiresBy(view.info())),
            field("ends_at", TIME, view -> view.info().endsAt()),
            field(
                    "on_idle",
                    SessionJson.ON_IDLE,
                    SessionJson.ON_IDLE_TEXT,
                    view -> view.info().onIdle()),
            optional("endpoints", Endpoints.URLS, View::urls),
            optional("scopes", TokenResponse.SCOPES, View::scopes));
    private static final ObjectType<Gone> THREAD_GONE = object(
            "ThreadGone",
            field("status", STRING.with("enum", List.of("released", "archived")), Gone::status),
            field("thread_id", THREAD_ID, gone -> gone.key().thread()),
            field("user_id", USER_ID, gone -> gone.key().user()),
            optional("sandbox_id", SANDBOX_ID, Gone::sandbox));

    /// A sandbox as the routes of threads show it.
    record View(SandboxInfo info, Optional<Endpoints.Urls> urls, Optional<Scopes> scopes) {
        static View of(SandboxInfo info) {
            return new View(info, Optional.empty(), Optional.empty());
        }
    }

    private record Gone(String status, ThreadKey key, Optional<SandboxId> sandbox) {}

    public static final RouteDescription ARCHIVE = RouteDescription.delete("/threads/{thread_id}", KEY)
            .named("archiveThread", "End the sandbox of a thread and archive the thread")
            .answers(200, "The thread is archived. Its tokens and invitations are revoked.", THREAD_GONE)
            .fails(403, 404);

    public static final RouteDescription HEARTBEAT = RouteDescription.post("/threads/{thread_id}/heartbeat", TOKEN)
            .named("heartbeat", "Extend the lease of the sandbox of a thread")
            .answers(200, "The sandbox with its new expiry time.", SANDBOX);

    public static final RouteDescription SANDBOX_HEARTBEAT = RouteDescription.post(
                    "/threads/{thread_id}/sandbox/heartbeat", TOKEN)
            .named("sandboxHeartbeat", "Extend the lease of the sandbox of a thread")
            .text("The same as `POST /threads/{thread_id}/heartbeat`.")
            .answers(200, "The sandbox with its new expiry time.", SANDBOX);

    public static final RouteDescription FIND = RouteDescription.get("/threads/{thread_id}/sandbox", TOKEN)
            .named("findSandbox", "Find the sandbox of a thread")
            .answers(200, "The sandbox and its state.", SANDBOX);

    public static final RouteDescription RELEASE = RouteDescription.delete("/threads/{thread_id}/sandbox", KEY)
            .named("releaseSandbox", "End the sandbox of a thread")
            .answers(200, "The sandbox has ended. Its tokens are revoked.", THREAD_GONE)
            .fails(403, 404);

    private final Sandboxes sandboxes;
    private final ThreadResolver resolver;
    private final Threads threads;
    private final Members members;
    private final Endpoints endpoints;
    private final EndSandbox end;

    public ThreadHandler(
            Sandboxes sandboxes,
            ThreadResolver resolver,
            Threads threads,
            Members members,
            Endpoints endpoints,
            EndSandbox end) {
        this.sandboxes = sandboxes;
        this.resolver = resolver;
        this.threads = threads;
        this.members = members;
        this.endpoints = endpoints;
        this.end = end;
    }

    /// `GET /threads/{thread_id}/sandbox`: the sandbox, its addresses and the scopes of the caller.
    public void find(Exchange exchange) throws IOException {
        var access = resolver.require(exchange);
        var info = resolver.sandbox(access).info();
        var urls = endpoints.of(exchange, info.id());
        exchange.answer(200, SANDBOX, new View(info, Optional.of(urls), Optional.of(access.scopes())));
    }

    /// `POST /threads/{thread_id}/heartbeat` and `…/sandbox/heartbeat`: extends the lease.
    public void heartbeat(Exchange exchange) throws IOException {
        var access = resolver.require(exchange);
        exchange.optionalJson().refuseOthers();
        var sandbox = resolver.sandbox(access);
        sandbox.touch();
        exchange.answer(200, SANDBOX, View.of(sandbox.info()));
    }

    /// `DELETE /threads/{thread_id}/sandbox`: ends the sandbox. The thread may get another one.
    public void release(Exchange exchange) throws IOException {
        var access = resolver.requireOwner(exchange);
        var sandbox = resolver.sandbox(access);
        end(exchange, sandbox, RELEASE.route());
        exchange.answer(200, THREAD_GONE, new Gone("released", access.key(), Optional.of(sandbox.id())));
    }

    /// `DELETE /threads/{thread_id}`: ends the sandbox, deletes the snapshots, removes the members and hides the
    /// thread.
    public void archive(Exchange exchange) throws IOException {
        var access = resolver.requireOwner(exchange);
        sandboxes.find(access.key()).ifPresent(sandbox -> end(exchange, sandbox, ARCHIVE.route()));
        sandboxes.snapshots().deleteAll(access.key());
        members.removeAll(access.key());
        threads.archive(access.key());
        exchange.answer(200, THREAD_GONE, new Gone("archived", access.key(), Optional.empty()));
    }

    private void end(Exchange exchange, Sandbox sandbox, String route) {
        exchange.markAudited();
        end.end(exchange.principal(), new EndSandbox.Request(sandbox, "released by request", route));
    }
}
