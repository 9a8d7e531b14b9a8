package dev.vivarium.core.guard.liveness;

import dev.vivarium.core.run.Continuations;
import dev.vivarium.core.run.NewRun;
import dev.vivarium.core.run.Restarts;
import dev.vivarium.core.run.Runs;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Run;
import dev.vivarium.model.RunId;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxFailure;
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

    private final Runs runs;
    private final Restarts restarts;
    private final Continuations continuations;
    private final RestartRequests requests;
    private final Quarantine quarantine;
    private final LivenessLog log;
    private final Executor threads;
    private final Set<RunId> busy = ConcurrentHashMap.newKeySet();

    Respawner(
            Runs runs,
            Restarts restarts,
            Continuations continuations,
            RestartRequests requests,
            Quarantine quarantine,
            LivenessLog log,
            Executor threads) {
        this.runs = runs;
        this.restarts = restarts;
        this.continuations = continuations;
        this.requests = requests;
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
                        perform(entry);
                    } catch (RuntimeException e) {
                        LOG.warn("Run {} is restarted later: {}", entry.run(), e.getMessage());
                    } finally {
                        busy.remove(entry.run());
                    }
                });
            }
        }
    }

    private void perform(Restarts.Entry entry) {
        Optional<Run> run = runs.find(entry.run());
        if (run.isEmpty()) {
            restarts.done(entry.run(), Optional.empty());
            return;
        }
        switch (entry.verdict()) {
            case QUARANTINE -> quarantine.freeze(run.get(), run.get().reason().orElse(entry.reasonCode()));
            case FAIL -> restarts.done(entry.run(), Optional.empty());
            case RESTART -> restart(run.get(), entry);
        }
    }

    /// Continues a restart. An earlier server may have begun the next run before it was killed.
    private void restart(Run run, Restarts.Entry entry) {
        Optional<Run> begun = entry.next().flatMap(runs::find).filter(next -> !Continuations.isUnstarted(next));
        boolean isTooOld = Duration.between(entry.at(), log.clock().instant()).compareTo(Restarts.WINDOW) > 0;
        if (begun.isPresent()) {
            begun.filter(next -> next.status() != Run.Status.CREATING)
                    .ifPresent(next -> continuations.finish(run, next));
        } else if (restarts.isQueued(run.task())) {
            restarts.done(run.id(), entry.next());
        } else if (isTooOld) {
            giveUp(run, "too much time has passed");
        } else {
            respawn(run);
        }
    }

    private void respawn(Run run) {
        Optional<NewRun> wanted = requests.of(run);
        if (wanted.isEmpty()) {
            giveUp(run, "a user ended its sandbox or uses it");
            return;
        }
        try {
            Run next = continuations.start(run, wanted.get());
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
