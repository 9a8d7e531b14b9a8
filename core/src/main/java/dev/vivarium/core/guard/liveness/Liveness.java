package dev.vivarium.core.guard.liveness;

import dev.vivarium.core.ClockJumps;
import dev.vivarium.core.Scheduler;
import dev.vivarium.core.access.Audit;
import dev.vivarium.core.git.RunRepositories;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.log.EventReader;
import dev.vivarium.core.run.Agents;
import dev.vivarium.core.run.Continuations;
import dev.vivarium.core.run.Restarts;
import dev.vivarium.core.run.Runs;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.DutyLease;
import dev.vivarium.model.SandboxException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Supervision of workers: ends idle runs, restarts runs whose worker crashed or stopped responding, and quarantines
/// tasks that need too many restarts. Thread-safe.
///
/// Several servers can share a store. Only the holder of the lease acts.
public final class Liveness implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Liveness.class);
    private static final Duration SWEEP_EVERY = Duration.ofMinutes(1);
    private static final Duration PRUNE_EVERY = Duration.ofMinutes(10);
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    private final Platform platform;
    private final LivenessConfig config;
    private final DutyLease lease;
    private final ClockJumps clock;
    private final Scheduler.Jobs jobs;
    private final LivenessLog log;
    private final Forensics forensics;
    private final Continuations continuations;
    private final Quarantine quarantine;
    private final Respawner respawner;
    private final HeartbeatMonitor heartbeats;
    private final ExecutorService threads = Executors.newThreadPerTaskExecutor(
            Thread.ofVirtual().name("liveness-", 0).factory());

    /// Parts of the server that the supervision uses.
    public record Platform(
            Db db,
            EventLog log,
            Audit audit,
            Runs runs,
            Agents agents,
            Sandboxes sandboxes,
            Restarts restarts,
            RunRepositories repositories) {}

    /// @param mask replaces secrets in forensics
    public Liveness(
            Platform platform,
            LivenessConfig config,
            UnaryOperator<String> mask,
            DutyLease lease,
            Scheduler scheduler) {
        this.platform = platform;
        this.config = config;
        this.lease = lease;
        this.clock = ClockJumps.of(scheduler);
        this.jobs = scheduler.jobs();
        this.log = new LivenessLog(platform.log, platform.audit, scheduler.clock());
        Sandboxes sandboxes = platform.sandboxes;
        var probe = new SandboxProbe(sandboxes, threads);
        this.forensics = new Forensics(config.bundles(), sandboxes, probe, log, mask);
        this.continuations =
                new Continuations(platform.agents, sandboxes, platform.restarts, platform.log, forensics::collect);
        this.quarantine = new Quarantine(platform.db, sandboxes, platform.restarts, log);
        var requests = new RestartRequests(platform.runs, sandboxes, platform.repositories);
        this.respawner =
                new Respawner(platform.runs, platform.restarts, continuations, requests, quarantine, log, threads);
        var actions = new LadderActions(platform.agents, sandboxes, probe, forensics, quarantine, log);
        this.heartbeats = new HeartbeatMonitor(
                platform.runs, platform.restarts, config.heartbeats(), scheduler.clock(), actions, threads);
    }

    public Forensics forensics() {
        return forensics;
    }

    public Continuations continuations() {
        return continuations;
    }

    /// Starts the reader, which the log closes, and the checks.
    public void start() {
        EventReader reader = platform.log.reader(
                "liveness", new LivenessReader(platform.log.codec(), platform.runs, platform.restarts, this::runEnded));
        var actions = IdleMonitor.on(platform.agents, platform.sandboxes, reader, log);
        var idle = new IdleMonitor(platform.db, platform.runs, config.idle(), clock, actions);
        heartbeats.startAnew();
        jobs.every(config.heartbeats().every(), "check of heartbeats", this::checkHeartbeats)
                .every(config.idle().every(), "check for idle runs", () -> act(idle::check))
                .every(TIMEOUT, SWEEP_EVERY, "end of quarantines", () -> act(this::sweep))
                .every(TIMEOUT, PRUNE_EVERY, "deletion of forensics", forensics::prune);
    }

    private void act(Runnable check) {
        try {
            if (lease.hold()) {
                check.run();
            }
        } catch (SandboxException | DutyLease.Superseded e) {
            LOG.warn("The supervision of workers continues later: {}", e.getMessage());
        }
    }

    private void checkHeartbeats() {
        act(() -> {
            heartbeats.check();
            respawner.run();
        });
    }

    private void sweep() {
        quarantine.sweep();
        for (Restarts.Entry old :
                platform.restarts.heldBefore(log.clock().instant().minus(Quarantine.KEPT))) {
            old.snapshot()
                    .flatMap(id -> platform.sandboxes.snapshots().find(id.value()))
                    .ifPresent(platform.sandboxes.snapshots()::delete);
            platform.restarts.release(old.run());
        }
    }

    /// Acts on the end of a run at once.
    private void runEnded(Optional<Restarts.Entry> entry) {
        entry.flatMap(abnormal -> platform.runs.find(abnormal.run())).ifPresent(run -> {
            continuations.adoptRescued(run);
            act(respawner::run);
        });
    }

    /// Stops the checks. Idempotent.
    @Override
    public void close() {
        jobs.close();
        threads.shutdownNow();
        try {
            boolean _ = threads.awaitTermination(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
