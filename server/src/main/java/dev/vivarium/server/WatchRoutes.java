package dev.vivarium.server;

import dev.vivarium.core.access.Scope;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.watch.FileHistory;
import dev.vivarium.core.watch.Watchers;
import dev.vivarium.server.api.ViewHandler;
import dev.vivarium.server.http.Route;
import dev.vivarium.server.operation.Operations;
import dev.vivarium.server.settings.WatchConfig;
import java.time.InstantSource;
import java.util.List;

/// The routes by which people look into sandboxes: files as they are and as they were, and what terminals showed.
final class WatchRoutes {
    private static final String SANDBOX = "/api/v1/sandboxes/{sandbox_id}";

    private WatchRoutes() {}

    static List<Route> of(Sight sight, Operations operations, EventLog log) {
        var view = new ViewHandler(operations, log, sight.history());
        return List.of(
                Route.get(SANDBOX + "/files", Route.Access.scoped(Scope.FS_RO), view::tree),
                Route.get(SANDBOX + "/files/{path…}", Route.Access.kept(Scope.FS_RO), view::file),
                Route.get(SANDBOX + "/diff", Route.Access.kept(Scope.FS_RO), view::diff),
                Route.get(SANDBOX + "/terminal", Route.Access.kept(Scope.SHELL_RO), view::terminal));
    }

    /// Who watches, and what was seen.
    record Sight(FileHistory history, Watchers watching) implements AutoCloseable {
        static Sight open(Db db, EventLog log, WatchConfig config, InstantSource clock) {
            var history = new FileHistory(db);
            return new Sight(history, new Watchers(log, history, config.metricsEvery(), clock));
        }

        @Override
        public void close() {
            watching.close();
        }
    }
}
