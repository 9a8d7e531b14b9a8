package dev.vivarium.server;

import dev.vivarium.core.access.Rights;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.run.Agents;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.core.watch.Watchers;
import dev.vivarium.server.api.AllReviewsHandler;
import dev.vivarium.server.api.Endpoints;
import dev.vivarium.server.api.ListSandboxesHandler;
import dev.vivarium.server.api.ReviewsHandler;
import dev.vivarium.server.api.RunLifeHandler;
import dev.vivarium.server.api.RunsHandler;
import dev.vivarium.server.api.SpawnHandler;
import dev.vivarium.server.api.WorkerHandler;
import dev.vivarium.server.http.Route;
import dev.vivarium.server.operation.SandboxRule;
import dev.vivarium.server.settings.Config;
import java.util.List;
import java.util.stream.Stream;

/// Routes of agent runs. Immutable.
record RunRoutes(
        Config config,
        AgentRuns runs,
        Agents agents,
        Sandboxes sandboxes,
        EventLog log,
        Rights rights,
        Watchers watchers) {
    List<Route> all(RunLifeHandler life) {
        return Stream.of(life(life), users(), worker(), reviews())
                .flatMap(List::stream)
                .toList();
    }

    private static List<Route> life(RunLifeHandler life) {
        return List.of(
                RunLifeHandler.END.to(life::end),
                RunLifeHandler.PAUSE.to(life::pause),
                RunLifeHandler.RESUME.to(life::resume));
    }

    private List<Route> users() {
        var endpoints = new Endpoints(config.access().publicUrl());
        var spawn = new SpawnHandler(agents, runs.tasks(), SandboxRule.of(config), endpoints);
        var list = new ListSandboxesHandler(sandboxes, runs.runs(), runs.tasks(), runs.reviews(), rights, watchers);
        var details = new RunsHandler(sandboxes, runs.runs(), runs.tasks(), log);
        return List.of(
                SpawnHandler.SPAWN.to(spawn::handle),
                ListSandboxesHandler.LIST.to(list::handle),
                RunsHandler.DETAILS.to(details::details));
    }

    private List<Route> worker() {
        var handler = new WorkerHandler(runs.tasks(), runs.runs(), runs.reviews(), runs.repeats(), log);
        return List.of(
                WorkerHandler.TASK.to(handler::task),
                WorkerHandler.STATUS.to(handler::status),
                WorkerHandler.PROGRESS.to(handler::progress),
                WorkerHandler.RESULTS.to(handler::results),
                WorkerHandler.HEARTBEAT.to(handler::heartbeat));
    }

    private List<Route> reviews() {
        var handler = new ReviewsHandler(runs.reviews(), runs.runs(), runs.repeats(), Vivarium.CLOCK);
        var all = new AllReviewsHandler(runs.reviews(), rights);
        return List.of(
                AllReviewsHandler.LIST.to(all::handle),
                ReviewsHandler.ASK.to(handler::ask),
                ReviewsHandler.AWAIT.to(handler::await),
                ReviewsHandler.LIST.to(handler::list),
                ReviewsHandler.DECIDE.to(handler::decide));
    }
}
