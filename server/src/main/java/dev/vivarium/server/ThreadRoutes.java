package dev.vivarium.server;

import static dev.vivarium.server.http.Route.Access.ADMIN;
import static dev.vivarium.server.http.Route.Access.KEY;
import static dev.vivarium.server.http.Route.Access.TOKEN;
import static dev.vivarium.server.http.Route.Access.TOKEN_RECORDED;

import dev.vivarium.core.access.Audit;
import dev.vivarium.core.access.Members;
import dev.vivarium.core.access.Rights;
import dev.vivarium.core.access.Threads;
import dev.vivarium.core.access.Tokens;
import dev.vivarium.core.access.WorkerTokens;
import dev.vivarium.core.sandbox.SandboxListener;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.server.api.AdminSandboxesHandler;
import dev.vivarium.server.api.AuditHandler;
import dev.vivarium.server.api.Callers;
import dev.vivarium.server.api.ConnectionsHandler;
import dev.vivarium.server.api.EgressHandler;
import dev.vivarium.server.api.Endpoints;
import dev.vivarium.server.api.ListThreadsHandler;
import dev.vivarium.server.api.MembersHandler;
import dev.vivarium.server.api.NegotiateHandler;
import dev.vivarium.server.api.RefreshHandler;
import dev.vivarium.server.api.RevokeHandler;
import dev.vivarium.server.api.ThreadCallers;
import dev.vivarium.server.api.ThreadHandler;
import dev.vivarium.server.api.TokenAnswer;
import dev.vivarium.server.http.Route;
import dev.vivarium.server.settings.AccessConfig;
import java.time.InstantSource;
import java.util.List;
import java.util.stream.Stream;

/// The routes by which threads' sandboxes are shared.
final class ThreadRoutes {
    private static final String THREAD = "/threads/{thread_id}";
    private static final String SANDBOX = THREAD + "/sandbox";

    private ThreadRoutes() {}

    /// Who may do what, and the record of it.
    record Access(
            AccessConfig config,
            Tokens tokens,
            WorkerTokens workers,
            Members members,
            Threads threads,
            Rights rights,
            Audit audit)
            implements SandboxListener {
        /// Revokes the tokens of the sandbox. If one kind cannot be revoked, the other one still is.
        @Override
        public void ended(SandboxInfo sandbox) {
            try {
                tokens.forget(sandbox.id());
            } finally {
                workers.forget(sandbox.id());
            }
        }
    }

    static List<Route> of(Routes.Parts parts, Callers known, InstantSource clock) {
        var callers = new ThreadCallers(parts.sandboxes(), parts.access().rights());
        return Stream.of(
                        life(parts, callers, clock), people(parts, callers, clock), admin(parts, known, callers, clock))
                .flatMap(List::stream)
                .toList();
    }

    /// A thread's sandbox and the tokens for it.
    private static List<Route> life(Routes.Parts parts, ThreadCallers callers, InstantSource clock) {
        var access = parts.access();
        var sandboxes = parts.sandboxes();
        var endpoints = new Endpoints(access.config().publicUrl());
        var answer = new TokenAnswer(endpoints, access.audit());
        var negotiate = new NegotiateHandler(
                sandboxes,
                callers,
                access.tokens(),
                access.threads(),
                answer,
                access.config().lease());
        var thread = new ThreadHandler(
                sandboxes, callers, access.threads(), access.members(), endpoints, access.audit(), clock);
        var refresh = new RefreshHandler(callers, access.tokens(), answer, clock);
        var revoke = new RevokeHandler(callers, access.tokens(), access.audit(), clock);
        return List.of(
                Route.get("/threads", KEY, new ListThreadsHandler(access.threads(), sandboxes)::handle),
                Route.delete(THREAD, KEY, thread::archive),
                Route.post(THREAD + "/heartbeat", TOKEN, thread::heartbeat),
                Route.post(SANDBOX, KEY, negotiate::handle),
                Route.get(SANDBOX, TOKEN, thread::find),
                Route.delete(SANDBOX, KEY, thread::release),
                Route.post(SANDBOX + "/refresh", KEY, refresh::refresh),
                Route.post(SANDBOX + "/token", TOKEN_RECORDED, refresh::downscope),
                Route.post(SANDBOX + "/revoke", TOKEN_RECORDED, revoke::handle));
    }

    /// Who may come, who is there, and what the sandbox may reach.
    private static List<Route> people(Routes.Parts parts, ThreadCallers callers, InstantSource clock) {
        var access = parts.access();
        var sandboxes = parts.sandboxes();
        var members = new MembersHandler(callers, access.members(), access.audit(), clock);
        var connections =
                new ConnectionsHandler(callers, sandboxes, parts.sockets().presence());
        var egress = new EgressHandler(sandboxes, callers, access.audit(), clock);
        return List.of(
                Route.post(THREAD + "/members", KEY, members::invite),
                Route.get(THREAD + "/members", KEY, members::list),
                Route.delete(THREAD + "/members/{user_id}", KEY, members::remove),
                Route.get(THREAD + "/connections", KEY, connections::list),
                Route.get(THREAD + "/egress", KEY, egress::show),
                Route.put(THREAD + "/egress", KEY, egress::change));
    }

    /// The record, and what only the admin does.
    private static List<Route> admin(Routes.Parts parts, Callers known, ThreadCallers callers, InstantSource clock) {
        var access = parts.access();
        var audit = new AuditHandler(callers, access.audit());
        var admin = new AdminSandboxesHandler(parts.sandboxes(), known, access.tokens(), access.audit(), clock);
        return List.of(
                Route.get(THREAD + "/audit", KEY, audit::ofThread),
                Route.get("/admin/audit", ADMIN, audit::ofAll),
                Route.get("/admin/sandboxes", ADMIN, admin::list),
                Route.delete("/admin/sandboxes/{sandbox_id}", ADMIN, admin::kill),
                Route.post("/admin/sandboxes/{sandbox_id}/rotate", ADMIN, admin::rotate));
    }
}
