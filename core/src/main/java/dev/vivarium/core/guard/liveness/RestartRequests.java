package dev.vivarium.core.guard.liveness;

import dev.vivarium.core.git.RunRepositories;
import dev.vivarium.core.run.NewRun;
import dev.vivarium.core.run.Runs;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.model.End;
import dev.vivarium.model.Run;
import dev.vivarium.model.RunRepository;
import dev.vivarium.model.SandboxInfo;
import java.util.Optional;
import java.util.Set;

/// Requests for runs that continue the task of a run that is not of the queue. Thread-safe.
record RestartRequests(Runs runs, Sandboxes sandboxes, RunRepositories repositories) {
    /// Ends by which somebody or a limit ended the sandbox on purpose, so that no restart follows.
    private static final Set<End.Cause> INTENDED =
            Set.of(End.Cause.USER, End.Cause.IDLE, End.Cause.LIFETIME, End.Cause.QUARANTINED);

    /// Returns a request with the options of a run and of its sandbox. Returns nothing if somebody has ended the
    /// sandbox or started another run in it, or if the store has no row of the sandbox.
    Optional<NewRun> of(Run run) {
        if (isUnwanted(run)) {
            return Optional.empty();
        }
        return sandboxes
                .requestOf(run.sandbox())
                .map(request -> new NewRun(
                        new NewRun.Assignment.Known(run.task()),
                        run.program(),
                        request,
                        run.budgetUsd(),
                        Optional.empty(),
                        run.guardian(),
                        repositories.find(run.id()).map(RunRepository::repository)));
    }

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
}
