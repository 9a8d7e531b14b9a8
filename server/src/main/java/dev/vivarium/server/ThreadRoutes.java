package dev.vivarium.server;

import static dev.vivarium.server.http.Route.Access.KEY;
import static dev.vivarium.server.http.Route.Access.TOKEN;
import static dev.vivarium.server.http.Route.Access.TOKEN_RECORDED;

import dev.vivarium.core.access.Audit;
import dev.vivarium.core.access.Threads;
import dev.vivarium.core.sandbox.Sandboxes;
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
import dev.vivarium.server.http.Route;
import dev.vivarium.server.operation.Operations;
import dev.vivarium.server.settings.AccessConfig;
import java.util.List;
import java.util.stream.Stream;

/// Routes of threads: their sandboxes, tokens and members. Immutable.
record ThreadRoutes(
        AccessConfig config,
        CredentialStore credentials,
        Audit audit,
        Threads threads,
        Sandboxes sandboxes,
        ThreadCallers callers,
        Operations operations) {
    private static final String THREAD = "/threads/{thread_id}";
    private static final String SANDBOX = THREAD + "/sandbox";

    List<Route> all(ConnectionsHandler connections) {
        return Stream.of(sandbox(), tokens(), sharing(connections))
                .flatMap(List::stream)
                .toList();
    }

    private List<Route> sandbox() {
        var thread = new ThreadHandler(
                sandboxes,
                callers,
                threads,
                credentials.members(),
                new Endpoints(config.publicUrl()),
                operations.end());
        return List.of(
                Route.get("/threads", KEY, new ListThreadsHandler(threads, sandboxes)::handle),
                Route.delete(THREAD, KEY, thread::archive),
                Route.post(THREAD + "/heartbeat", TOKEN, thread::heartbeat),
                Route.get(SANDBOX, TOKEN, thread::find),
                Route.delete(SANDBOX, KEY, thread::release));
    }

    private List<Route> tokens() {
        var tokens = credentials.tokens();
        var answer = new TokenAnswer(new Endpoints(config.publicUrl()), audit);
        var negotiate = new NegotiateHandler(operations.create(), callers, tokens, answer);
        var refresh = new RefreshHandler(callers, tokens, answer, Vivarium.CLOCK);
        var revoke = new RevokeHandler(callers, tokens, audit, Vivarium.CLOCK);
        return List.of(
                Route.post(SANDBOX, KEY, negotiate::handle),
                Route.post(SANDBOX + "/refresh", KEY, refresh::refresh),
                Route.post(SANDBOX + "/token", TOKEN_RECORDED, refresh::downscope),
                Route.post(SANDBOX + "/revoke", TOKEN_RECORDED, revoke::handle));
    }

    private List<Route> sharing(ConnectionsHandler connections) {
        var members = new MembersHandler(callers, credentials.members(), audit, Vivarium.CLOCK);
        var egress = new EgressHandler(sandboxes, callers, audit, Vivarium.CLOCK);
        return List.of(
                Route.post(THREAD + "/members", KEY, members::invite),
                Route.get(THREAD + "/members", KEY, members::list),
                Route.delete(THREAD + "/members/{user_id}", KEY, members::remove),
                Route.get(THREAD + "/connections", KEY, connections::list),
                Route.get(THREAD + "/egress", KEY, egress::show),
                Route.put(THREAD + "/egress", KEY, egress::change));
    }
}
