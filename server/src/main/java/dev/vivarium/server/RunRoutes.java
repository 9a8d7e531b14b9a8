package dev.vivarium.server;

import static dev.vivarium.server.api.ValidationErrors.insteadOfInvalid;
import static dev.vivarium.server.http.Route.Access.KEY;
import static dev.vivarium.server.http.Route.Access.WORKER;
import static dev.vivarium.server.http.Route.Access.kept;
import static dev.vivarium.server.http.Route.Access.scoped;

import dev.vivarium.core.access.Scope;
import dev.vivarium.core.access.WorkerGrant.Audience;
import dev.vivarium.core.access.WorkerGrant.Work;
import dev.vivarium.core.access.WorkerTokens;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.run.Agents;
import dev.vivarium.core.run.IdempotencyRecords;
import dev.vivarium.core.run.Inbox;
import dev.vivarium.core.run.Outbox;
import dev.vivarium.core.run.Reviews;
import dev.vivarium.core.run.RunEvents;
import dev.vivarium.core.run.RunListener;
import dev.vivarium.core.run.Runs;
import dev.vivarium.core.run.Supervisor;
import dev.vivarium.core.run.Tasks;
import dev.vivarium.core.run.Transcripts;
import dev.vivarium.core.run.Workers;
import dev.vivarium.core.sandbox.SandboxListener;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.core.store.Db;
import dev.vivarium.model.Run;
import dev.vivarium.server.api.AllReviewsHandler;
import dev.vivarium.server.api.Callers;
import dev.vivarium.server.api.Endpoints;
import dev.vivarium.server.api.ListSandboxesHandler;
import dev.vivarium.server.api.ReviewsHandler;
import dev.vivarium.server.api.RunLifeHandler;
import dev.vivarium.server.api.RunsHandler;
import dev.vivarium.server.api.SpawnHandler;
import dev.vivarium.server.api.WorkerHandler;
import dev.vivarium.server.http.Route;
import dev.vivarium.server.operation.Operations;
import dev.vivarium.server.settings.RunConfig;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;

/// The routes by which agents are started and looked at.
final class RunRoutes {
    private static final String ALL = "/api/v1/sandboxes";
    private static final String ONE = ALL + "/{sandbox_id}";
    private static final String INSIDE = "/api/v1/sandbox";
    private static final String TASK = INSIDE + "/task/{task_id}";

    private RunRoutes() {}

    /// The parts of runs that listen to sandboxes. Created before the sandboxes, to be registered with them.
    record Supervision(
            RunConfig config,
            WorkerTokens tokens,
            Inbox inbox,
            Runs runs,
            RunEvents events,
            Reviews reviews,
            Transcripts transcripts,
            Supervisor supervisor) {
        static Supervision of(Engine engine, RunConfig config, WorkerTokens tokens) {
            var outbox = new Outbox(engine.db(), engine.log(), engine.clock());
            // Tokens end with the run: processes that it left behind must not act for the next run.
            RunListener revocation = run -> tokens.forget(run.sandbox());
            var runs = new Runs(engine.db(), outbox, engine.clock(), List.of(revocation));
            var reviews = new Reviews(engine.db(), outbox, engine.clock(), config.reviewTimeout());
            var transcripts =
                    new Transcripts(engine.home().resolve("transcripts"), config.transcripts(), engine.clock());
            var events = new RunEvents(engine.log(), runs);
            var supervisor = new Supervisor(runs, events, reviews, transcripts, engine.clock());
            var inbox = new Inbox(engine.db(), engine.log(), engine.clock());
            return new Supervision(config, tokens, inbox, runs, events, reviews, transcripts, supervisor);
        }

        List<SandboxListener> listeners() {
            return List.of(inbox, reviews, supervisor);
        }

        /// Takes over the runs of an earlier server.
        Agency start(Engine engine, Sandboxes sandboxes) {
            supervisor.start(sandboxes);
            var workers = new Workers(WorkerProgram.read(), passes(tokens));
            var agents = new Agents(sandboxes, runs, workers, supervisor, transcripts, config.image());
            var repeats = new IdempotencyRecords(engine.db(), engine.clock());
            var tasks = new Tasks(engine.db(), engine.clock());
            return new Agency(runs, events, tasks, repeats, reviews, agents, supervisor);
        }
    }

    /// Agent runs and their tasks.
    record Agency(
            Runs runs,
            RunEvents events,
            Tasks tasks,
            IdempotencyRecords repeats,
            Reviews reviews,
            Agents agents,
            Supervisor supervisor)
            implements AutoCloseable {
        @Override
        public void close() {
            supervisor.close();
        }
    }

    /// The parts of the server that runs use.
    record Engine(Path home, Db db, EventLog log, InstantSource clock) {}

    private static Workers.Passes passes(WorkerTokens tokens) {
        return new Workers.Passes() {
            @Override
            public String worker(Run run) {
                return tokens.issue(work(run), Audience.WORKER);
            }

            @Override
            public String model(Run run) {
                return tokens.issue(work(run), Audience.MODEL);
            }
        };
    }

    private static Work work(Run run) {
        return new Work(run.sandbox(), run.thread(), run.owner(), run.task());
    }

    static List<Route> of(Routes.Parts parts, Operations operations, Callers callers, InstantSource clock) {
        var routes = new ArrayList<>(people(parts, operations, callers, clock));
        routes.addAll(worker(parts));
        routes.addAll(reviews(parts, clock));
        return routes;
    }

    private static List<Route> people(Routes.Parts parts, Operations operations, Callers callers, InstantSource clock) {
        var agency = parts.agency();
        var config = parts.config();
        var spawn = new SpawnHandler(
                agency.agents(),
                agency.tasks(),
                Routes.rule(config),
                new Endpoints(config.access().publicUrl()));
        var list = new ListSandboxesHandler(
                parts.sandboxes(),
                agency.runs(),
                agency.tasks(),
                agency.reviews(),
                parts.access().rights(),
                parts.sight().watching());
        var runs = new RunsHandler(parts.sandboxes(), agency.runs(), agency.tasks(), parts.log());
        var life = new RunLifeHandler(
                parts.sandboxes(), callers, operations.pause(), parts.access().audit(), clock);
        return List.of(
                Route.post(ALL, KEY, insteadOfInvalid(spawn::handle)),
                Route.get(ALL, KEY, list::handle),
                Route.get(ONE, kept(Scope.SHELL_RO), runs::details),
                Route.delete(ONE, KEY, life::end),
                Route.post(ONE + "/pause", scoped(Scope.PROCESS), life::pause),
                Route.post(ONE + "/resume", scoped(Scope.PROCESS), life::resume));
    }

    /// What the worker inside asks and reports.
    private static List<Route> worker(Routes.Parts parts) {
        var agency = parts.agency();
        var handler = new WorkerHandler(agency.tasks(), agency.runs(), agency.reviews(), agency.repeats(), parts.log());
        return List.of(
                Route.get(INSIDE + "/task", WORKER, handler::task),
                Route.patch(TASK + "/status", WORKER, insteadOfInvalid(handler::status)),
                Route.post(TASK + "/progress", WORKER, insteadOfInvalid(handler::progress)),
                Route.post(TASK + "/results", WORKER, insteadOfInvalid(handler::results)),
                Route.post(INSIDE + "/heartbeat", WORKER, insteadOfInvalid(handler::heartbeat)));
    }

    private static List<Route> reviews(Routes.Parts parts, InstantSource clock) {
        var agency = parts.agency();
        var handler = new ReviewsHandler(agency.reviews(), agency.runs(), agency.repeats(), clock);
        var all = new AllReviewsHandler(agency.reviews(), parts.access().rights());
        return List.of(
                Route.get("/api/v1/reviews", KEY, all::handle),
                Route.post(TASK + "/review", WORKER, insteadOfInvalid(handler::ask)),
                Route.get(TASK + "/review/{review_id}", WORKER, handler::await),
                Route.get(ONE + "/reviews", kept(Scope.SHELL_RO), handler::list),
                Route.post(ONE + "/reviews/{review_id}", scoped(Scope.PROCESS), insteadOfInvalid(handler::decide)));
    }
}
