package dev.vivarium.core.guard.liveness;

import dev.vivarium.core.run.Restarts;
import dev.vivarium.core.run.Runs;
import dev.vivarium.model.Run;
import dev.vivarium.model.RunId;
import dev.vivarium.model.SandboxId;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Moves the runs that miss heartbeats up the [Ladder]. Thread-safe.
///
/// The rungs of a run are kept in memory: after a start of the server, or after a time in which the server did not
/// check, every run starts anew, because its heartbeats could not arrive. So does a run that was paused. If the clock
/// was set back, the last heartbeat of a run can be in the future. Such a run counts as silent until its next
/// heartbeat.
final class HeartbeatMonitor {
    private static final Logger LOG = LoggerFactory.getLogger(HeartbeatMonitor.class);

    /// A check that is later than this number of intervals shows that the server did not run.
    private static final int LATE = 3;

    private final Runs runs;
    private final Restarts restarts;
    private final Ladder ladder;
    private final Duration longestGap;
    private final InstantSource clock;
    private final Actions actions;
    private final Executor threads;
    private final Map<RunId, Watch> watched = new ConcurrentHashMap<>();
    private final Set<RunId> busy = ConcurrentHashMap.newKeySet();

    /// Confined to the thread of the check.
    private Instant lastCheck;

    /// Time before which no missed heartbeat counts. Confined to the thread of the check.
    private Instant anew;

    /// @param beat       last heartbeat
    /// @param lastSign   last heartbeat, or the time since which the run is watched
    /// @param isDiskFull finding of the probe
    private record Watch(Instant beat, Instant lastSign, int climbed, boolean isDiskFull) {
        Watch afterRung(boolean foundFullDisk) {
            return new Watch(beat, lastSign, climbed + 1, isDiskFull || foundFullDisk);
        }
    }

    /// Actions of the monitor on sandboxes. Implementations are thread-safe.
    interface Actions {
        /// Returns the sandboxes in which a worker can run now.
        Set<SandboxId> running();

        /// Performs a rung. Reports whether the disk of the sandbox is full.
        boolean perform(Run run, Ladder.Rung rung);
    }

    /// @param threads runs the rungs, which can take seconds
    HeartbeatMonitor(
            Runs runs,
            Restarts restarts,
            LivenessConfig.Heartbeats config,
            InstantSource clock,
            Actions actions,
            Executor threads) {
        this.runs = runs;
        this.restarts = restarts;
        this.ladder = new Ladder(config.beat(), config.restarts());
        this.longestGap = config.every().multipliedBy(LATE);
        this.clock = clock;
        this.actions = actions;
        this.threads = threads;
        this.lastCheck = clock.instant();
        this.anew = lastCheck;
    }

    /// Lets every run start anew.
    void startAnew() {
        anew = clock.instant();
        lastCheck = anew;
        watched.clear();
    }

    void check() {
        Instant now = clock.instant();
        if (now.isBefore(lastCheck) || Duration.between(lastCheck, now).compareTo(longestGap) > 0) {
            startAnew();
        }
        List<Run> silent = runs.silent(now.minus(ladder.firstMiss()), now);
        lastCheck = now;
        watched.keySet().retainAll(silent.stream().map(Run::id).collect(Collectors.toSet()));
        if (!silent.isEmpty()) {
            Set<SandboxId> running = actions.running();
            silent.forEach(run -> check(run, running.contains(run.sandbox()), now));
        }
    }

    private void check(Run run, boolean canRun, Instant now) {
        boolean isOnLadder = canRun && run.status() == Run.Status.RUNNING;
        Instant beat = run.heartbeat().orElseThrow().at();
        Instant sign = !isOnLadder || beat.isAfter(now) ? now : beat;
        Watch watch =
                watched.computeIfAbsent(run.id(), _ -> new Watch(beat, sign.isAfter(anew) ? sign : anew, 0, false));
        if (!isOnLadder || !beat.equals(watch.beat)) {
            watch = new Watch(beat, sign, 0, false);
            watched.put(run.id(), watch);
        }
        // Only the last rung depends on the restarts.
        int recent = watch.climbed == 2 ? restarts.recent(run.task()) : 0;
        var silence = new Ladder.Silence(watch.lastSign, watch.climbed, recent, watch.isDiskFull);
        ladder.next(silence, now).filter(_ -> busy.add(run.id())).ifPresent(rung -> perform(run, rung));
    }

    private void perform(Run run, Ladder.Rung rung) {
        threads.execute(() -> {
            try {
                boolean isDiskFull = actions.perform(run, rung);
                watched.computeIfPresent(run.id(), (_, watch) -> watch.afterRung(isDiskFull));
            } catch (RuntimeException e) {
                LOG.warn("{} of run {} is tried again: {}", rung, run.id(), e.getMessage());
            } finally {
                busy.remove(run.id());
            }
        });
    }
}
