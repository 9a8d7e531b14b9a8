package dev.vivarium.server;

import static dev.vivarium.server.http.Route.Access.TOKEN;

import dev.vivarium.server.api.SnapshotsHandler;
import dev.vivarium.server.http.Route;
import java.util.List;

/// Routes of the snapshots of a thread.
final class SnapshotRoutes {
    private static final String ALL = "/threads/{thread_id}/snapshots";
    private static final String ONE = ALL + "/{snapshot_id}";

    private SnapshotRoutes() {}

    static List<Route> of(SnapshotsHandler snapshots) {
        return List.of(
                Route.post(ALL, TOKEN, snapshots::take),
                Route.get(ALL, TOKEN, snapshots::list),
                Route.get("/snapshots/{snapshot_id}", TOKEN, snapshots::find),
                Route.delete(ONE, TOKEN, snapshots::delete),
                Route.post(ONE + "/restore", TOKEN, snapshots::restore),
                Route.post(ONE + "/fork", TOKEN, snapshots::fork));
    }
}
