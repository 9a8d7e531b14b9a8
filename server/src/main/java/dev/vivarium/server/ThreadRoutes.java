package dev.vivarium.server;

import static dev.vivarium.server.http.Route.Access.ADMIN;
import static dev.vivarium.server.http.Route.Access.KEY;
import static dev.vivarium.server.http.Route.Access.TOKEN;
import static dev.vivarium.server.http.Route.Access.TOKEN_RECORDED;

import dev.vivarium.core.access.Audit;
import dev.vivarium.core.access.Threads;
import dev.vivarium.core.sandbox.Sandboxes;
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
import dev.vivarium.server.http.CredentialStore;
import dev.vivarium.server.http.Presence;
import dev.vivarium.server.http.Route;
import dev.vivarium.server.settings.AccessConfig;
import java.util.List;
import java.util.stream.Stream;

/// Routes of threads: their sandboxes, tokens, members and audit. Immutable.
record ThreadRoutes(
        AccessConfig config,
        CredentialStore credentials,
        Audit audit,
        Threads threads,
        Sandboxes sandboxes,
        Callers known,
        Presence presence) {
    private static final String THREAD = "/threads/{thread_id}";
    private static final String SANDBOX = THREAD + "/sandbox";

    List<Route> all() {
        var callers = new ThreadCallers(sandboxes, credentials.rights());
        return Stream.of(sandbox(callers), tokens(callers), sharing(callers), admin(callers))
                .flatMap(List::stream)
                .toList();
    }

    private List<Route> sandbox(ThreadCallers callers) {
        var thread = new ThreadHandler(
                sandboxes,
                callers,
                threads,
                credentials.members(),
                new Endpoints(config.publicUrl()),
                audit,
                Vivarium.CLOCK);
        return List.of(
                Route.get("/threads", KEY, new ListThreadsHandler(threads, sandboxes)::handle),
                Route.delete(THREAD, KEY, thread::archive),
                Route.post(THREAD + "/heartbeat", TOKEN, thread::heartbeat),
                Route.get(SANDBOX, TOKEN, thread::find),
                Route.delete(SANDBOX, KEY, thread::release));
    }

    private List<Route> tokens(ThreadCallers callers) {
        var tokens = credentials.tokens();
        var answer = new TokenAnswer(new Endpoints(config.publicUrl()), audit);
        var negotiate = new NegotiateHandler(sandboxes, callers, tokens, threads, answer, config.lease());
        var refresh = new RefreshHandler(callers, tokens, answer, Vivarium.CLOCK);
        var revoke = new RevokeHandler(callers, tokens, audit, Vivarium.CLOCK);
        return List.of(
                Route.post(SANDBOX, KEY, negotiate::handle),
                Route.post(SANDBOX + "/refresh", KEY, refresh::refresh),
                Route.post(SANDBOX + "/token", TOKEN_RECORDED, refresh::downscope),
                Route.post(SANDBOX + "/revoke", TOKEN_RECORDED, revoke::handle));
    }

    private List<Route> sharing(ThreadCallers callers) {
        var members = new MembersHandler(callers, credentials.members(), audit, Vivarium.CLOCK);
        var connections = new ConnectionsHandler(callers, sandboxes, presence);
        var egress = new EgressHandler(sandboxes, callers, audit, Vivarium.CLOCK);
        return List.of(
                Route.post(THREAD + "/members", KEY, members::invite),
                Route.get(THREAD + "/members", KEY, members::list),
                Route.delete(THREAD + "/members/{user_id}", KEY, members::remove),
                Route.get(THREAD + "/connections", KEY, connections::list),
                Route.get(THREAD + "/egress", KEY, egress::show),
                Route.put(THREAD + "/egress", KEY, egress::change));
    }

    private List<Route> admin(ThreadCallers callers) {
        var entries = new AuditHandler(callers, audit);
        var admin = new AdminSandboxesHandler(sandboxes, known, credentials.tokens(), audit, Vivarium.CLOCK);
        return List.of(
                Route.get(THREAD + "/audit", KEY, entries::ofThread),
                Route.get("/admin/audit", ADMIN, entries::ofAll),
                Route.get("/admin/sandboxes", ADMIN, admin::list),
                Route.delete("/admin/sandboxes/{sandbox_id}", ADMIN, admin::kill),
                Route.post("/admin/sandboxes/{sandbox_id}/rotate", ADMIN, admin::rotate));
    }
}
