package dev.vivarium.core.guard.trajectory;

import dev.vivarium.core.CriticalThread;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.run.Outbox;
import dev.vivarium.core.run.Runs;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.DutyLease;
import dev.vivarium.model.Run;
import dev.vivarium.model.RunId;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.StepCodec;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Guardian of agent runs: looks at the trajectory of each active run, and acts on the runs that do not progress.
/// Thread-safe.
///
/// A durable reader of the log keeps a compact trajectory of each run. One thread looks at all trajectories in an
/// interval, and at a single one as soon as a rule would act on it. A pass reads the trajectories and the active runs,
/// and no events.
public final class Guardian implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Guardian.class);

    /// Time between two renewals of the lease.
    private static final Duration POLL = Duration.ofSeconds(5);

    private static final int WAKEUPS = 1024;

    private final Runs runs;
    private final StepCodec texts;
    private final DutyLease lease;
    private final GuardianLimits limits;
    private final RunDecisions decisions;
    private final JudgeRequests judgeRequests;
    private final Thread worker = CriticalThread.unstarted("guardian", this::run);

    /// Runs to look at now. If it is full, the next pass looks at the others.
    private final BlockingQueue<Wakeup> wakeups = new ArrayBlockingQueue<>(WAKEUPS);

    private volatile boolean closed;

    private record Wakeup(SandboxId sandbox, Optional<Finding> judged) {}

    /// Parts of the server that the guardian uses. Immutable.
    public record Parts(
            Db db, EventLog log, Outbox outbox, Runs runs, GuardianActions actions, StepCodec texts, Judge judge) {}

    public Guardian(Parts parts, DutyLease lease, GuardianLimits limits, InstantSource clock) {
        this.runs = parts.runs;
        this.texts = parts.texts;
        this.lease = lease;
        this.limits = limits;
        this.decisions = new RunDecisions(parts.db, parts.outbox, parts.runs, parts.actions, lease, limits, clock);
        this.judgeRequests = new JudgeRequests(parts, clock, this::wake);
    }

    /// Starts the reader, which the log closes, and the thread.
    public void start(EventLog log) {
        log.reader("guardian", reader(log));
        worker.start();
    }

    TrajectoryReader reader(EventLog log) {
        return new TrajectoryReader(runs, log.codec(), texts, limits, sandbox -> wake(sandbox, Optional.empty()));
    }

    private void wake(SandboxId sandbox, Optional<Finding> judged) {
        boolean _ = wakeups.offer(new Wakeup(sandbox, judged));
    }

    private void run() {
        long nextPass = System.nanoTime() + limits.interval().toNanos();
        while (!closed) {
            try {
                long wait = Math.min(POLL.toNanos(), Math.max(0, nextPass - System.nanoTime()));
                Wakeup wakeup = wakeups.poll(wait, TimeUnit.NANOSECONDS);
                if (!closed && lease.hold()) {
                    handle(wakeup);
                    if (System.nanoTime() - nextPass >= 0) {
                        nextPass = System.nanoTime() + limits.interval().toNanos();
                        pass();
                    }
                }
            } catch (InterruptedException e) {
                LOG.debug("the guardian is closing");
            } catch (SandboxException | DutyLease.Superseded e) {
                LOG.warn("The guardian continues later: {}", e.getMessage());
            } catch (RuntimeException e) {
                LOG.error("The guardian failed and continues later", e);
            }
        }
    }

    private void handle(@Nullable Wakeup wakeup) {
        if (wakeup != null) {
            decisions.examine(wakeup.sandbox, wakeup.judged);
        }
    }

    /// Does what the wakeups so far ask for. For tests without a thread.
    void drain() {
        for (Wakeup wakeup = wakeups.poll(); wakeup != null; wakeup = wakeups.poll()) {
            handle(wakeup);
        }
    }

    /// Looks at all active runs. One run that fails does not keep the guardian from the others.
    public void pass() {
        List<TrajectoryRows.Row> rows = decisions.all();
        if (rows.isEmpty()) {
            return;
        }
        Map<RunId, Run> active = runs.active().stream().collect(Collectors.toMap(Run::id, Function.identity()));
        for (TrajectoryRows.Row row : rows) {
            Run run = active.get(row.run());
            if (run != null) {
                examine(row, run);
            }
        }
        judgeRequests.offer(rows, active);
    }

    private void examine(TrajectoryRows.Row row, Run run) {
        try {
            decisions.examine(row, run, Optional.empty());
        } catch (SandboxException e) {
            LOG.warn("The guardian looks at run {} again later: {}", run.id(), e.getMessage());
        }
    }

    /// Stops the thread. Idempotent.
    @Override
    public void close() {
        closed = true;
        worker.interrupt();
        judgeRequests.close();
        try {
            boolean _ = !worker.isAlive() || worker.join(POLL);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
