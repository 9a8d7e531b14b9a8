package dev.vivarium.server;

import static dev.vivarium.server.api.ValidationErrors.insteadOfInvalid;
import static dev.vivarium.server.http.Route.Access.KEY;
import static dev.vivarium.server.http.Route.Access.WORKER;
import static dev.vivarium.server.http.Route.Access.kept;
import static dev.vivarium.server.http.Route.Access.scoped;

import dev.vivarium.core.access.Rights;
import dev.vivarium.core.access.Scope;
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
    private static final String ALL = "/api/v1/sandboxes";
    private static final String ONE = ALL + "/{sandbox_id}";
    private static final String INSIDE = "/api/v1/sandbox";
    private static final String TASK = INSIDE + "/task/{task_id}";

    List<Route> all(RunLifeHandler life) {
        return Stream.of(life(life), users(), worker(), reviews())
                .flatMap(List::stream)
                .toList();
    }

    private static List<Route> life(RunLifeHandler life) {
        return List.of(
                Route.delete(ONE, KEY, life::end),
                Route.post(ONE + "/pause", scoped(Scope.PROCESS), life::pause),
                Route.post(ONE + "/resume", scoped(Scope.PROCESS), life::resume));
    }

    private List<Route> users() {
        var endpoints = new Endpoints(config.access().publicUrl());
        var spawn = new SpawnHandler(agents, runs.tasks(), SandboxRule.of(config), endpoints);
        var list = new ListSandboxesHandler(sandboxes, runs.runs(), runs.tasks(), runs.reviews(), rights, watchers);
        var details = new RunsHandler(sandboxes, runs.runs(), runs.tasks(), log);
        return List.of(
                Route.post(ALL, KEY, insteadOfInvalid(spawn::handle)),
                Route.get(ALL, KEY, list::handle),
                Route.get(ONE, kept(Scope.SHELL_RO), details::details));
    }

    private List<Route> worker() {
        var handler = new WorkerHandler(runs.tasks(), runs.runs(), runs.reviews(), runs.repeats(), log);
        return List.of(
                Route.get(INSIDE + "/task", WORKER, handler::task),
                Route.patch(TASK + "/status", WORKER, insteadOfInvalid(handler::status)),
                Route.post(TASK + "/progress", WORKER, insteadOfInvalid(handler::progress)),
                Route.post(TASK + "/results", WORKER, insteadOfInvalid(handler::results)),
                Route.post(INSIDE + "/heartbeat", WORKER, insteadOfInvalid(handler::heartbeat)));
    }

    private List<Route> reviews() {
        var handler = new ReviewsHandler(runs.reviews(), runs.runs(), runs.repeats(), Vivarium.CLOCK);
        var all = new AllReviewsHandler(runs.reviews(), rights);
        return List.of(
                Route.get("/api/v1/reviews", KEY, all::handle),
                Route.post(TASK + "/review", WORKER, insteadOfInvalid(handler::ask)),
                Route.get(TASK + "/review/{review_id}", WORKER, handler::await),
                Route.get(ONE + "/reviews", kept(Scope.SHELL_RO), handler::list),
                Route.post(ONE + "/reviews/{review_id}", scoped(Scope.PROCESS), insteadOfInvalid(handler::decide)));
    }
}
