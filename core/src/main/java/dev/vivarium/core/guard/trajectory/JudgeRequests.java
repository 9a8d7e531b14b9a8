package dev.vivarium.core.guard.trajectory;

import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.run.TaskRows;
import dev.vivarium.core.store.Db;
import dev.vivarium.model.GuardianEvent;
import dev.vivarium.model.GuardianPolicy;
import dev.vivarium.model.Judgement;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.Run;
import dev.vivarium.model.RunId;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.Task;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Asks the judge about runs, apart from the rules. The rules never wait for it, and its judgement leads to a message
/// at most. Thread-safe.
final class JudgeRequests implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(JudgeRequests.class);

    /// New calls before a run is judged again.
    private static final int CALLS = 10;

    private static final Duration INTERVAL = Duration.ofMinutes(5);

    /// Runs in one pass. They are judged one after the other.
    private static final int MOST = 10;

    private static final double POOR_ALIGNMENT = 0.4;
    private static final double CONFIDENT = 0.7;

    private final Guardian.Parts parts;
    private final InstantSource clock;
    private final BiConsumer<SandboxId, Optional<Finding>> wake;
    private final Map<RunId, Last> judged = new ConcurrentHashMap<>();
    private final AtomicBoolean isBusy = new AtomicBoolean();
    private final ExecutorService workers = Executors.newThreadPerTaskExecutor(
            Thread.ofVirtual().name("judge-", 0).factory());

    private record Last(Instant at, long calls) {
        static final Last NEVER = new Last(Instant.EPOCH, 0);
    }

    private record Due(TrajectoryRows.Row row, Run run, Trajectory trajectory) {}

    JudgeRequests(Guardian.Parts parts, InstantSource clock, BiConsumer<SandboxId, Optional<Finding>> wake) {
        this.parts = parts;
        this.clock = clock;
        this.wake = wake;
    }

    /// Judges the runs that are due in the background. Does nothing while an earlier call is under way.
    void offer(List<TrajectoryRows.Row> rows, Map<RunId, Run> active) {
        judged.keySet().retainAll(active.keySet());
        if (parts.judge() == Judge.NONE || !isBusy.compareAndSet(false, true)) {
            return;
        }
        List<Due> due = due(rows, active);
        workers.execute(() -> {
            try {
                due.forEach(this::judge);
            } catch (RuntimeException e) {
                LOG.warn("The judge failed; the rules continue", e);
            } finally {
                isBusy.set(false);
            }
        });
    }

    private List<Due> due(List<TrajectoryRows.Row> rows, Map<RunId, Run> active) {
        var due = new ArrayList<Due>();
        Instant now = clock.instant();
        for (TrajectoryRows.Row row : rows) {
            Run run = active.get(row.run());
            if (run != null && isWatched(row, run, now)) {
                Trajectory trajectory = TrajectoryText.decode(row.state());
                if (trajectory.counters.calls >= last(run.id()).calls + CALLS) {
                    due.add(new Due(row, run, trajectory));
                }
            }
        }
        due.sort(Comparator.comparing(one -> last(one.run.id()).at));
        return due.subList(0, Math.min(MOST, due.size()));
    }

    private boolean isWatched(TrajectoryRows.Row row, Run run, Instant now) {
        return run.status() == Run.Status.RUNNING
                && row.policy() != GuardianPolicy.OFF
                && !now.isBefore(last(run.id()).at.plus(INTERVAL));
    }

    private Last last(RunId run) {
        return judged.getOrDefault(run, Last.NEVER);
    }

    private void judge(Due due) {
        judged.put(due.run.id(), new Last(clock.instant(), due.trajectory.counters.calls));
        Db db = parts.db();
        Optional<Task> task = db.read(sql -> TaskRows.find(sql, due.run.task()));
        task.map(known -> TrajectoryDigest.of(due.trajectory, known.wanted(), clock.instant()))
                .flatMap(parts.judge()::judge)
                .ifPresent(judgement -> judged(due, judgement));
    }

    private void judged(Due due, Judgement judgement) {
        EventLog log = parts.log();
        var body = new GuardianEvent.Judged(due.run.id(), due.run.task(), judgement);
        long seq = log.append(due.run.sandbox(), NewEvent.of(body, GuardianActions.GUARDIAN))
                .event()
                .seq();
        boolean isPoor = judgement.alignment() < POOR_ALIGNMENT
                && judgement.confidence() >= CONFIDENT
                && judgement.state() != Judgement.State.DONE;
        if (isPoor) {
            wake.accept(due.run.sandbox(), Optional.of(finding(due, judgement, seq)));
        }
    }

    private static Finding finding(Due due, Judgement judgement, long seq) {
        var evidence = new ArrayList<>(due.trajectory.finished().stream().map(Call::seq).toList().reversed().stream()
                .limit(Tally.SEQS - 1)
                .toList()
                .reversed());
        evidence.add(seq);
        String state = judgement.state() == Judgement.State.STUCK ? "stuck" : "away from its task";
        return new Finding(
                Ladder.JUDGE,
                Finding.Severity.ADVICE,
                "a model judged that the work is " + state,
                "Its advice: " + Excerpt.of(judgement.message(), Judgement.LONGEST),
                evidence);
    }

    /// Stops waiting for the judge. Idempotent.
    @Override
    public void close() {
        workers.shutdownNow();
        try {
            boolean _ = workers.awaitTermination(5, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
