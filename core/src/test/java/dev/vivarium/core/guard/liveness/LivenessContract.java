package dev.vivarium.core.guard.liveness;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.core.ClockJumps;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.log.EventReader;
import dev.vivarium.core.run.Restarts;
import dev.vivarium.core.run.Restarts.Verdict;
import dev.vivarium.core.run.StoredRuns;
import dev.vivarium.core.store.Db;
import dev.vivarium.json.EventBodyJson;
import dev.vivarium.model.LivenessEvent;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.Run;
import dev.vivarium.model.RunId;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.TaskId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Contract of the supervision on every database, with a clock of its own and without sandboxes.
abstract class LivenessContract {
    private static final Duration BEAT = Duration.ofSeconds(15);
    private static final Duration CHECK = Duration.ofSeconds(10);

    private final AtomicReference<Instant> time = new AtomicReference<>(Instant.parse("2026-01-01T10:00:00Z"));
    private final AtomicLong elapsed = new AtomicLong();
    private final List<Ladder.Rung> rungs = new ArrayList<>();
    private final Set<SandboxId> frozen = new HashSet<>();
    private final List<LivenessEvent.TerminatedIdle> idle = new ArrayList<>();
    private boolean isDiskFull;
    private Db db;
    private EventLog log;
    private StoredRuns stored;
    private Restarts restarts;
    private EventReader reader;
    private HeartbeatMonitor monitor;
    private IdleMonitor idleMonitor;

    /// Returns the database of this test, the same one each time.
    abstract Db openDb();

    @BeforeEach
    void open() {
        db = openDb();
        log = new EventLog(db, time::get, new EventBodyJson());
        stored = new StoredRuns(db, log, time::get);
        restarts = new Restarts(db, time::get, 3);
        reader = log.reader("liveness", new LivenessReader(log.codec(), stored.runs(), restarts, _ -> {}));
        monitor = monitor();
        var config = new LivenessConfig.Idle(true, Duration.ofMinutes(30), Duration.ofMinutes(1));
        idleMonitor = new IdleMonitor(
                db, stored.runs(), config, new ClockJumps(time::get, elapsed::get), new IdleMonitor.Actions() {
                    @Override
                    public void await(Run run) {
                        reader.await(run.sandbox());
                    }

                    @Override
                    public void end(Run run, LivenessEvent.TerminatedIdle event, String reason) {
                        idle.add(event);
                        stored.end(run, "idle");
                    }
                });
    }

    private HeartbeatMonitor monitor() {
        var actions = new HeartbeatMonitor.Actions() {
            @Override
            public Set<SandboxId> running() {
                var running = new HashSet<SandboxId>();
                stored.runs().silent(time.get(), time.get()).forEach(run -> running.add(run.sandbox()));
                running.removeAll(frozen);
                return running;
            }

            @Override
            public boolean perform(Run run, Ladder.Rung rung) {
                rungs.add(rung);
                return isDiskFull;
            }
        };
        return new HeartbeatMonitor(
                stored.runs(),
                restarts,
                new LivenessConfig.Heartbeats(BEAT, CHECK, 3),
                time::get,
                actions,
                Runnable::run);
    }

    @AfterEach
    void close() {
        log.close();
        db.close();
    }

    private void pass(Duration duration) {
        elapsed.addAndGet(duration.toNanos());
        jump(duration);
    }

    /// Sets the clock of the host.
    private void jump(Duration duration) {
        time.updateAndGet(now -> now.plus(duration));
    }

    /// Checks every ten seconds for a time.
    private void watch(Duration duration) {
        for (Duration left = duration; left.isPositive(); left = left.minus(CHECK)) {
            pass(CHECK);
            monitor.check();
        }
    }

    private Run beating() {
        Run run = stored.start();
        stored.beat(run);
        return run;
    }

    @Test
    void aSilentRunIsReportedThenProbedThenRestarted() {
        beating();

        watch(Duration.ofSeconds(20));
        assertThat(rungs).containsExactly(Ladder.Rung.REPORT);
        watch(Duration.ofSeconds(20));
        assertThat(rungs).containsExactly(Ladder.Rung.REPORT, Ladder.Rung.PROBE);
        watch(Duration.ofSeconds(20));
        assertThat(rungs).containsExactly(Ladder.Rung.REPORT, Ladder.Rung.PROBE, Ladder.Rung.RESTART);
    }

    @Test
    void aRunThatNeverSentAHeartbeatIsNotOnTheLadder() {
        stored.start();

        watch(Duration.ofMinutes(5));

        assertThat(rungs).isEmpty();
    }

    @Test
    void aHeartbeatEndsTheEscalation() {
        Run run = beating();
        watch(Duration.ofSeconds(40));
        stored.beat(run);
        watch(Duration.ofSeconds(10));
        rungs.clear();

        watch(Duration.ofSeconds(10));

        assertThat(rungs).containsExactly(Ladder.Rung.REPORT);
    }

    @Test
    void aPausedRunStartsAnewAfterItsPause() {
        Run run = beating();
        stored.hold(run);
        watch(Duration.ofMinutes(5));
        stored.resume(run);

        watch(Duration.ofSeconds(10));
        assertThat(rungs).isEmpty();
        watch(Duration.ofSeconds(10));
        assertThat(rungs).containsExactly(Ladder.Rung.REPORT);
    }

    @Test
    void aFrozenSandboxIsNotOnTheLadder() {
        Run run = beating();
        frozen.add(run.sandbox());

        watch(Duration.ofMinutes(5));

        assertThat(rungs).isEmpty();
    }

    @Test
    void timeWithoutAServerDoesNotCount() {
        beating();
        pass(Duration.ofHours(1));
        monitor = monitor();

        watch(Duration.ofSeconds(10));
        assertThat(rungs).isEmpty();

        // The host was suspended.
        pass(Duration.ofHours(1));
        monitor.check();
        watch(Duration.ofSeconds(10));
        assertThat(rungs).isEmpty();
        watch(Duration.ofSeconds(10));
        assertThat(rungs).containsExactly(Ladder.Rung.REPORT);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, -1})
    void aJumpOfTheClockRestartsNoWorkerThatSendsHeartbeats(int hours) {
        Run run = beating();
        watch(CHECK);
        jump(Duration.ofHours(hours));
        for (int i = 0; i < 20; i++) {
            watch(CHECK);
            stored.beat(run);
        }

        assertThat(rungs).isEmpty();
    }

    @Test
    void aWorkerThatDiesAroundAJumpBackIsRestarted() {
        beating();
        watch(CHECK);
        jump(Duration.ofHours(-1));

        watch(Duration.ofSeconds(70));

        assertThat(rungs).containsExactly(Ladder.Rung.REPORT, Ladder.Rung.PROBE, Ladder.Rung.RESTART);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, -1})
    void aRunIsIdleOnlyAfterTheWholeThresholdSinceAJumpOfTheClock(int hours) {
        Run run = beating();
        event(run, "agent.message");
        pass(Duration.ofMinutes(1));
        jump(Duration.ofHours(hours));
        stored.beat(run);
        idleMonitor.check();
        pass(Duration.ofMinutes(29));
        stored.beat(run);
        idleMonitor.check();
        assertThat(idle).isEmpty();

        pass(Duration.ofMinutes(2 + Math.max(0, -60 * hours)));
        stored.beat(run);
        idleMonitor.check();
        assertThat(idle).hasSize(1);
    }

    @Test
    void aFullDiskLeadsToQuarantine() {
        beating();
        isDiskFull = true;

        watch(Duration.ofMinutes(1));

        assertThat(rungs).containsExactly(Ladder.Rung.REPORT, Ladder.Rung.PROBE, Ladder.Rung.QUARANTINE);
    }

    @Test
    void theFourthRestartWithinHalfAnHourLeadsToQuarantine() {
        Run first = beating();
        crash(first, "unresponsive");
        TaskId task = first.task();
        for (int restart = 2; restart <= 3; restart++) {
            Run next = stored.start(task);
            stored.beat(next);
            crash(next, "unresponsive");
        }
        stored.beat(stored.start(task));

        watch(Duration.ofMinutes(1));

        assertThat(rungs).endsWith(Ladder.Rung.QUARANTINE);
    }

    /// Ends a run, and returns the decision of the reader of the log.
    private Optional<Restarts.Entry> crash(Run run, String code) {
        stored.end(run, code);
        reader.await(run.sandbox());
        return restarts.find(run.id());
    }

    @ParameterizedTest
    @ValueSource(strings = {"crashed", "signal", "oom", "unresponsive"})
    void aWorkerThatEndedAbnormallyIsRestarted(String code) {
        Run run = beating();

        assertThat(crash(run, code)).map(Restarts.Entry::verdict).contains(Verdict.RESTART);
        assertThat(restarts.pending()).extracting(Restarts.Entry::run).containsExactly(run.id());
        restarts.done(run.id(), Optional.empty());
        assertThat(restarts.pending()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"completed", "failed", "budget", "aborted", "idle", "lifetime", "quarantined", "not_started"})
    void aRunThatEndedForAnotherReasonIsNotRestarted(String code) {
        assertThat(crash(beating(), code)).isEmpty();
    }

    @Test
    void aWorkerThatNeverSentAHeartbeatOrReportedItsFailureIsNotRestarted() {
        assertThat(crash(stored.start(), "signal")).isEmpty();

        Run judged = beating();
        stored.failedByItself(judged);
        assertThat(crash(judged, "signal")).isEmpty();
    }

    @Test
    void aCrashLoopEndsInQuarantineAndTheTaskFails() {
        Run run = beating();
        List<Verdict> verdicts = new ArrayList<>();
        List<RunId> all = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            verdicts.add(crash(run, "signal").orElseThrow().verdict());
            all.add(run.id());
            run = stored.start(run.task());
            stored.beat(run);
        }

        assertThat(verdicts).containsExactly(Verdict.RESTART, Verdict.RESTART, Verdict.RESTART, Verdict.QUARANTINE);
        Run last = stored.runs().find(all.getLast()).orElseThrow();
        assertThat(last.reasonCode()).contains("quarantined");
        assertThat(last.reason().orElseThrow())
                .isEqualTo("restarted 3 times within 30 minutes; the last end: it ended");
        assertThat(stored.judge(restarts, last).reasonCode()).contains("quarantined");
    }

    @Test
    void restartsLongAgoDoNotCount() {
        Run run = beating();
        for (int i = 0; i < 6; i++) {
            assertThat(crash(run, "crashed").orElseThrow().verdict()).isEqualTo(Verdict.RESTART);
            pass(Duration.ofMinutes(11));
            run = stored.start(run.task());
            stored.beat(run);
        }
    }

    @Test
    void aTaskThatRunsOutOfMemoryTwiceFails() {
        Run run = beating();
        assertThat(crash(run, "oom").orElseThrow().verdict()).isEqualTo(Verdict.RESTART);
        Run next = stored.start(run.task());
        stored.beat(next);

        assertThat(crash(next, "oom").orElseThrow().verdict()).isEqualTo(Verdict.FAIL);
    }

    @Test
    void withoutRestartsNothingIsRestarted() {
        Run run = stored.end(beating(), "signal");

        assertThat(stored.judge(new Restarts(db, time::get, 0), run)).isEqualTo(run);
    }

    @Test
    void aRunWithHeartbeatsAndWithoutWorkIsIdle() {
        Run run = beating();
        Instant started = time.get();
        event(run, "agent.heartbeat");
        event(run, "agent.thinking");
        event(run, "agent.error");
        pass(Duration.ofMinutes(31));
        stored.beat(run);

        idleMonitor.check();

        assertThat(idle)
                .containsExactly(
                        new LivenessEvent.TerminatedIdle(run.id(), run.task(), started, Duration.ofMinutes(31)));
        idleMonitor.check();
        assertThat(idle).hasSize(1);
    }

    private void event(Run run, String type) {
        log.append(run.sandbox(), NewEvent.of(type, "{}", "agent"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "agent.file_edited",
                "agent.tool_completed",
                "agent.subagent_completed",
                "agent.skill_completed",
                "agent.completed",
                "agent.assistant_message",
                "agent.tool_use",
                "agent.tool_result",
                "agent.message",
                "agent.output",
                "user.message",
                "user.interrupt",
                "user.guidance",
                "user.approve",
                "user.reject"
            })
    void workAndInputKeepARun(String type) {
        Run run = beating();
        pass(Duration.ofMinutes(29));
        event(run, type);
        pass(Duration.ofMinutes(29));
        stored.beat(run);
        idleMonitor.check();
        assertThat(idle).isEmpty();

        pass(Duration.ofMinutes(2));
        stored.beat(run);
        idleMonitor.check();
        assertThat(idle).hasSize(1);
    }

    @Test
    void aSilentOrPausedRunIsNotIdle() {
        Run silent = beating();
        Run paused = beating();
        pass(Duration.ofMinutes(31));
        stored.beat(paused);
        stored.hold(paused);

        idleMonitor.check();

        assertThat(idle).isEmpty();
        assertThat(silent.isActive()).isTrue();
    }
}
