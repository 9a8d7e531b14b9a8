package dev.vivarium.server;

import dev.vivarium.core.Scheduler;
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
import dev.vivarium.server.settings.Config;
import java.util.List;

/// Agent runs with their tasks, messages and reviews. Thread-safe.
///
/// Sandboxes call the [#listeners], so the runs are opened before the sandboxes and started after them.
record AgentRuns(
        Runs runs,
        Tasks tasks,
        Inbox inbox,
        Reviews reviews,
        IdempotencyRecords repeats,
        RunEvents events,
        Transcripts transcripts,
        Supervisor supervisor)
        implements AutoCloseable {
    static AgentRuns open(Config config, Db db, EventLog log, WorkerTokens tokens, Scheduler scheduler) {
        var clock = scheduler.clock();
        var outbox = new Outbox(db, log, clock);
        // Processes that a run leaves behind must not act for the next run.
        RunListener revocation = run -> tokens.forget(run.sandbox());
        var runs = new Runs(db, outbox, clock, List.of(revocation));
        var reviews = new Reviews(db, outbox, clock, config.runs().reviewTimeout());
        var transcripts = new Transcripts(
                config.home().resolve("transcripts"), config.runs().transcripts(), clock);
        var events = new RunEvents(log, runs);
        return new AgentRuns(
                runs,
                new Tasks(db, clock),
                new Inbox(db, log, clock),
                reviews,
                new IdempotencyRecords(db, clock),
                events,
                transcripts,
                new Supervisor(runs, events, reviews, transcripts, scheduler));
    }

    List<SandboxListener> listeners() {
        return List.of(inbox, reviews, supervisor);
    }

    /// Takes over the runs of an earlier server.
    Agents start(Sandboxes sandboxes, WorkerTokens tokens, Config config) {
        supervisor.start(sandboxes);
        var workers = new Workers(WorkerProgram.read(), passes(tokens));
        return new Agents(
                sandboxes, runs, workers, supervisor, transcripts, config.runs().image());
    }

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

    /// Idempotent.
    @Override
    public void close() {
        supervisor.close();
    }
}
