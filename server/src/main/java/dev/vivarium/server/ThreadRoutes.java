package dev.vivarium.server;

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
                ListThreadsHandler.LIST.to(new ListThreadsHandler(threads, sandboxes)::handle),
                ThreadHandler.ARCHIVE.to(thread::archive),
                ThreadHandler.HEARTBEAT.to(thread::heartbeat),
                ThreadHandler.FIND.to(thread::find),
                ThreadHandler.RELEASE.to(thread::release));
    }

    private List<Route> tokens() {
        var tokens = credentials.tokens();
        var answer = new TokenAnswer(new Endpoints(config.publicUrl()), audit);
        var negotiate = new NegotiateHandler(operations.create(), callers, tokens, answer);
        var refresh = new RefreshHandler(callers, tokens, answer, Vivarium.CLOCK);
        var revoke = new RevokeHandler(callers, tokens, audit, Vivarium.CLOCK);
        return List.of(
                NegotiateHandler.NEGOTIATE.to(negotiate::handle),
                RefreshHandler.REFRESH.to(refresh::refresh),
                RefreshHandler.DOWNSCOPE.to(refresh::downscope),
                RevokeHandler.REVOKE.to(revoke::handle));
    }

    private List<Route> sharing(ConnectionsHandler connections) {
        var members = new MembersHandler(callers, credentials.members(), audit, Vivarium.CLOCK);
        var egress = new EgressHandler(sandboxes, callers, audit, Vivarium.CLOCK);
        return List.of(
                MembersHandler.INVITE.to(members::invite),
                MembersHandler.LIST.to(members::list),
                MembersHandler.REMOVE.to(members::remove),
                ConnectionsHandler.LIST.to(connections::list),
                EgressHandler.SHOW.to(egress::show),
                EgressHandler.CHANGE.to(egress::change));
    }
}
