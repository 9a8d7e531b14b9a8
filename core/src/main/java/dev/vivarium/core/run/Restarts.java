package dev.vivarium.core.run;

import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.Sql;
import dev.vivarium.model.Run;
import dev.vivarium.model.RunId;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SnapshotId;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.TextEnum;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/// Abnormal ends of workers, and the decision about each. Thread-safe.
///
/// A worker ends abnormally if it crashes, is killed or stops responding, and has not judged its own run. Its task is
/// started again, until it was restarted too often within [#WINDOW]. A run whose worker never sent a heartbeat is not
/// restarted, because the worker cannot work there. Neither is a run that ended longer than [#WINDOW] ago.
public final class Restarts {
    public static final Duration WINDOW = Duration.ofMinutes(30);

    private static final Set<String> ABNORMAL =
            Set.of(ReasonCode.UNRESPONSIVE, ReasonCode.CRASHED, ReasonCode.SIGNAL, ReasonCode.OOM);

    private final Db db;
    private final InstantSource clock;
    private final int max;

    /// @param max maximum number of restarts of a task within [#WINDOW]; zero for none
    public Restarts(Db db, InstantSource clock, int max) {
        this.db = db;
        this.clock = clock;
        this.max = max;
    }

    /// Decision about an abnormal end.
    public enum Verdict implements TextEnum {
        /// Another run continues the task.
        RESTART,
        /// The sandbox is kept for inspection, and the task fails.
        QUARANTINE,
        /// The task fails.
        FAIL
    }

    /// An abnormal end.
    ///
    /// @param snapshot files of the run, until another run has them
    /// @param next     run that continues the task, from its begin on
    public record Entry(
            RunId run,
            TaskId task,
            SandboxId sandbox,
            String reasonCode,
            Verdict verdict,
            Optional<SnapshotId> snapshot,
            Optional<RunId> next,
            Instant at) {}

    public int max() {
        return max;
    }

    /// Decides about the end of a run, once. Returns the run, with the reason code `quarantined` if that is the
    /// decision. Returns a run unchanged that ended normally.
    public Run judge(Sql sql, Run run) throws SQLException {
        if (!isAbnormal(sql, run)) {
            return run;
        }
        if (RestartRows.find(sql, run.id()).isEmpty()) {
            decide(sql, run);
        }
        return RunRows.find(sql, run.id()).orElse(run);
    }

    private boolean isAbnormal(Sql sql, Run run) throws SQLException {
        return max > 0
                && !run.isActive()
                && run.status() != Run.Status.COMPLETED
                && run.heartbeat().isPresent()
                && run.endedAt().orElse(now()).isAfter(now().minus(WINDOW))
                && run.reasonCode().filter(ABNORMAL::contains).isPresent()
                && RunRows.verdict(sql, run.id()).isEmpty();
    }

    private void decide(Sql sql, Run run) throws SQLException {
        String code = run.reasonCode().orElseThrow();
        Instant since = now().minus(WINDOW);
        int earlier = RestartRows.count(sql, run.task(), since);
        Verdict verdict = Verdict.RESTART;
        if (code.equals(ReasonCode.OOM) && RestartRows.hasOom(sql, run.task(), since)) {
            verdict = Verdict.FAIL;
        } else if (earlier >= max) {
            verdict = Verdict.QUARANTINE;
        }
        boolean isPending =
                verdict == Verdict.QUARANTINE || verdict == Verdict.RESTART && !TaskRows.isQueued(sql, run.task());
        RestartRows.insert(sql, run, verdict, isPending, run.endedAt().orElse(now()));
        if (verdict == Verdict.QUARANTINE) {
            RunRows.requalify(sql, run.id(), tooOften(earlier, run), ReasonCode.QUARANTINED);
        }
    }

    private static String tooOften(int restarts, Run run) {
        return TextLimits.kept(
                "restarted " + restarts + " times within " + WINDOW.toMinutes() + " minutes; the last end: "
                        + run.reason().orElse(run.reasonCode().orElse("")));
    }

    /// Returns the number of restarts of a task within [#WINDOW].
    public int recent(TaskId task) {
        return db.read(sql -> RestartRows.count(sql, task, now().minus(WINDOW)));
    }

    public Optional<Entry> find(RunId run) {
        return db.read(sql -> RestartRows.find(sql, run));
    }

    /// Reports whether the queue restarts a task.
    public boolean isQueued(TaskId task) {
        return db.read(sql -> TaskRows.isQueued(sql, task));
    }

    /// Returns the oldest decisions that are not carried out. The queue restarts its own tasks; such a restart is
    /// pending from the begin of the next run on.
    public List<Entry> pending() {
        return db.read(RestartRows::pending);
    }

    /// Replaces the decision to restart, because a restart cannot succeed.
    public void quarantine(Run run, String reason) {
        db.write(sql -> {
            RestartRows.quarantine(sql, run.id());
            RunRows.requalify(sql, run.id(), reason, ReasonCode.QUARANTINED);
            return run;
        });
    }

    /// Stores the snapshot with the files of a run.
    void hold(RunId run, SnapshotId snapshot) {
        db.write(sql -> {
            RestartRows.snapshot(sql, run, Optional.of(snapshot));
            return run;
        });
    }

    /// Stores that the snapshot of a run was deleted.
    public void release(RunId run) {
        db.write(sql -> {
            RestartRows.snapshot(sql, run, Optional.empty());
            return run;
        });
    }

    /// Returns the decisions before a time that still have a snapshot.
    public List<Entry> heldBefore(Instant time) {
        return db.read(sql -> RestartRows.heldBefore(sql, time));
    }

    /// Stores that a decision was carried out, or cannot be.
    ///
    /// @param next the run that continues the task
    public void done(RunId run, Optional<RunId> next) {
        db.write(sql -> {
            RestartRows.done(sql, run, next);
            return run;
        });
    }

    private Instant now() {
        return Instant.ofEpochMilli(clock.millis());
    }
}
