package dev.vivarium.server;

import dev.vivarium.core.ClockJumps;
import dev.vivarium.core.Scheduler;
import dev.vivarium.core.access.Audit;
import dev.vivarium.core.access.WorkerGrant.Audience;
import dev.vivarium.core.access.WorkerGrant.Work;
import dev.vivarium.core.access.WorkerTokens;
import dev.vivarium.core.guard.liveness.Liveness;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.run.Agents;
import dev.vivarium.core.run.DiskRescue;
import dev.vivarium.core.run.IdempotencyRecords;
import dev.vivarium.core.run.Inbox;
import dev.vivarium.core.run.Outbox;
import dev.vivarium.core.run.Restarts;
import dev.vivarium.core.run.Reviews;
import dev.vivarium.core.run.RunEvents;
import dev.vivarium.core.run.RunListener;
import dev.vivarium.core.run.RunSetup;
import dev.vivarium.core.run.RunSignals;
import dev.vivarium.core.run.Runs;
import dev.vivarium.core.run.Supervisor;
import dev.vivarium.core.run.Tasks;
import dev.vivarium.core.run.Transcripts;
import dev.vivarium.core.run.Workers;
import dev.vivarium.core.sandbox.SandboxListener;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.DutyLease;
import dev.vivarium.core.task.AttemptRunner;
import dev.vivarium.core.task.Diagnosis;
import dev.vivarium.core.task.Orchestrator;
import dev.vivarium.core.task.TaskQueue;
import dev.vivarium.json.DiagnosisJson;
import dev.vivarium.model.Run;
import dev.vivarium.server.settings.Config;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.function.UnaryOperator;

/// Agent runs with their tasks, messages and reviews. Thread-safe.
///
/// Sandboxes call the [#listeners], so the runs are opened before the sandboxes and started after them.
record AgentRuns(
        Runs runs,
        Tasks tasks,
        TaskQueue queue,
        Inbox inbox,
        Reviews reviews,
        RunSignals signals,
        IdempotencyRecords idempotencyRecords,
        RunEvents events,
        Transcripts transcripts,
        Supervisor supervisor,
        Restarts restarts,
        DiskRescue rescue,
        Outbox outbox)
        implements AutoCloseable {
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final Duration DIAGNOSIS_LEASE = Duration.ofMinutes(5);

    static AgentRuns open(Config config, Db db, EventLog log, WorkerTokens tokens, Scheduler scheduler) {
        var clock = scheduler.clock();
        var outbox = new Outbox(db, log, clock);
        // Processes that a run leaves behind must not act for the next run.
        RunListener revocation = run -> tokens.forget(run.sandbox());
        var inbox = new Inbox(db, log, clock);
        var signals = new RunSignals();
        var runs = new Runs(db, outbox, signals, clock, List.of(revocation, inbox));
        var reviews = new Reviews(
                db, outbox, signals, ClockJumps.of(scheduler), config.runs().reviews());
        var transcripts = new Transcripts(
                config.home().resolve("transcripts"), config.runs().transcripts(), clock);
        var events = new RunEvents(log, runs);
        var restarts =
                new Restarts(db, clock, config.runs().liveness().heartbeats().restarts());
        return new AgentRuns(
                runs,
                new Tasks(db, clock),
                new TaskQueue(db, outbox, ClockJumps.of(scheduler), new SecureRandom()),
                inbox,
                reviews,
                signals,
                new IdempotencyRecords(db, clock),
                events,
                transcripts,
                new Supervisor(runs, events, reviews, transcripts, config.runs().afterRun(), scheduler),
                restarts,
                new DiskRescue(runs, restarts),
                outbox);
    }

    List<SandboxListener> listeners() {
        return List.of(inbox, signals, rescue, supervisor);
    }

    /// Takes over the runs of an earlier server.
    Agents start(Sandboxes sandboxes, WorkerTokens tokens, Config config, RunSetup setup) {
        rescue.start(sandboxes);
        supervisor.start(sandboxes);
        var heartbeat = config.runs().liveness().heartbeats().beat();
        var workers = new Workers(WorkerProgram.read(), passes(tokens), heartbeat);
        return new Agents(
                sandboxes, runs, workers, supervisor, transcripts, config.runs().image(), setup);
    }

    /// Returns the orchestrator of the queue. Start it after everything else.
    Orchestrator orchestrator(AttemptRunner runner, Db db, Config config, InstantSource clock) {
        var lease = new DutyLease(db, "orchestrator", config.workerId(), LEASE, clock);
        return new Orchestrator(queue, runs, runner, lease, config.runs().tasks(), restarts);
    }

    /// Returns the supervision of workers. Start it after everything else.
    Liveness liveness(Liveness.Platform platform, Config config, UnaryOperator<String> mask, Scheduler scheduler) {
        var lease = new DutyLease(platform.db(), "liveness", config.workerId(), LEASE, scheduler.clock());
        return new Liveness(platform, config.runs().liveness(), mask, lease, scheduler);
    }

    /// Returns the diagnosis of the queue. Start it after everything else.
    Diagnosis diagnosis(Db db, EventLog log, Audit audit, Config config, Scheduler scheduler) {
        var lease = new DutyLease(db, "diagnosis", config.workerId(), DIAGNOSIS_LEASE, scheduler.clock());
        var settings = new Diagnosis.Config(
                config.runs().diagnosis().every(), config.runs().diagnosis().program(), DiagnosisJson::context);
        return new Diagnosis(queue, log, lease, audit, settings, scheduler);
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
