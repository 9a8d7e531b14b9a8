package dev.vivarium.server;

import dev.vivarium.core.run.Runs;
import dev.vivarium.core.run.Tasks;
import dev.vivarium.core.store.Db;
import java.time.InstantSource;

/// The routes by which agents are started, and by which they report.
final class RunRoutes {
    private RunRoutes() {}

    /// What agents do, and are asked to do.
    record Work(Runs runs, Tasks tasks) {
        static Work open(Db db, InstantSource clock) {
            return new Work(new Runs(db), new Tasks(db, clock));
        }
    }
}
