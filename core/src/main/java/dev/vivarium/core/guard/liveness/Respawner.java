package dev.vivarium.core.guard.liveness;

import dev.vivarium.core.run.Continuations;
import dev.vivarium.core.run.NewRun;
import dev.vivarium.core.run.Restarts;
import dev.vivarium.core.run.Runs;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.model.End;
import dev.vivarium.model.Failure;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.Run;
import dev.vivarium.model.RunId;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxFailure;
import dev.vivarium.model.SandboxInfo;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Carries out the decisions about runs that ended abnormally: restarts of runs that are not of the queue, and
/// quarantines. Thread-safe.
///
/// The decisions are in the store until they are carried out, so that the next server continues after a crash.
final class Respawner {
    private static final Logger LOG = LoggerFactory.getLogger(Respawner.class);

    /// Ends by which somebody or a limit ended the sandbox on purpose, so that no restart follows.
    private static final Set<End.Cause> INTENDED =
            Set.of(End.Cause.USER, End.Cause.IDLE, End.Cause.LIFETIME, End.Cause.QUARANTINED);

    private final Runs runs;
    private final Restarts restarts;
    private final Continuations continuations;
    private final Sandboxes sandboxes;
    private final Quarantine quarantine;
    private final LivenessLog log;
    private final Executor threads;
    private final Set<RunId> busy = ConcurrentHashMap.newKeySet();

    Respawner(
            Runs runs,
            Restarts restarts,
            Continuations continuations,
            Sandboxes sandboxes,
            Quarantine quarantine,
            LivenessLog log,
            Executor threads) {
        this.runs = runs;
        this.restarts = restarts;
        this.continuations = continuations;
        this.sandboxes = sandboxes;
        this.quarantine = quarantine;
        this.log = log;
        this.threads = threads;
    }

    /// Starts to carry out the pending decisions.
    void run() {
        for (Restarts.Entry entry : restarts.pending()) {
            if (busy.add(entry.run())) {
                threads.execute(() -> {
                    try {
                        carryOut(entry);
                    } catch (RuntimeException e) {
                        LOG.warn("Run {} is restarted later: {}", entry.run(), e.getMessage());
                    } finally {
                        busy.remove(entry.run());
                    }
                });
            }
        }
    }

    private void carryOut(Restarts.Entry entry) {
        Optional<Run> run = runs.find(entry.run());
        boolean isTooOld = Duration.between(entry.at(), log.clock().instant()).compareTo(Restarts.WINDOW) > 0;
        if (run.isEmpty()) {
            restarts.done(entry.run(), Optional.empty());
            return;
        }
        switch (entry.verdict()) {
            case QUARANTINE -> quarantine.freeze(run.get(), run.get().reason().orElse(entry.reasonCode()));
            case FAIL -> restarts.done(entry.run(), Optional.empty());
            case RESTART -> {
                if (isTooOld || isUnwanted(run.get())) {
                    giveUp(run.get(), "somebody ended or uses its sandbox, or too much time has passed");
                } else {
                    respawn(run.get());
                }
            }
        }
    }

    /// Reports whether somebody has ended the sandbox or started another run in it.
    private boolean isUnwanted(Run run) {
        boolean isNewest = runs.find(run.sandbox())
                .filter(newest -> newest.id().equals(run.id()))
                .isPresent();
        return !isNewest
                || sandboxes
                        .findEnded(run.sandbox())
                        .flatMap(SandboxInfo::end)
                        .filter(end -> INTENDED.contains(end.cause()))
                        .isPresent();
    }

    private void respawn(Run run) {
        Optional<NewSandbox> request = sandboxes.requestOf(run.sandbox());
        if (request.isEmpty()) {
            giveUp(run, "the store has no row of its sandbox");
            return;
        }
        try {
            var wanted = new NewRun(
                    new NewRun.Assignment.Known(run.task()),
                    run.program(),
                    request.get(),
                    run.budgetUsd(),
                    Optional.empty());
            Run next = continuations.start(run, wanted);
            log.audit(run, "run " + next.id() + " continues its task");
        } catch (SandboxException e) {
            refused(run, e.failure());
        }
    }

    /// A full disk leads to a quarantine, which is pending now. A shortage passes.
    private void refused(Run run, Failure failure) {
        boolean mayPass = failure.owner() != Failure.Owner.CALLER || failure instanceof SandboxFailure.QuotaExceeded;
        if (mayPass) {
            LOG.warn("Run {} is restarted later: {}", run.id(), failure.sentence());
        } else if (!(failure instanceof Failure.DiskFull)) {
            giveUp(run, failure.sentence());
        }
    }

    private void giveUp(Run run, String reason) {
        LOG.warn("Run {} is not restarted: {}", run.id(), reason);
        restarts.done(run.id(), Optional.empty());
    }
}
