package dev.vivarium.server;

import dev.vivarium.server.api.SnapshotsHandler;
import dev.vivarium.server.http.Route;
import java.util.List;

/// Routes of the snapshots of a thread. Stateless.
final class SnapshotRoutes {
    private SnapshotRoutes() {}

    static List<Route> of(SnapshotsHandler snapshots) {
        return List.of(
                SnapshotsHandler.TAKE.to(snapshots::take),
                SnapshotsHandler.LIST.to(snapshots::list),
                SnapshotsHandler.FIND.to(snapshots::find),
                SnapshotsHandler.DELETE.to(snapshots::delete),
                SnapshotsHandler.RESTORE.to(snapshots::restore),
                SnapshotsHandler.FORK.to(snapshots::fork));
    }
}
