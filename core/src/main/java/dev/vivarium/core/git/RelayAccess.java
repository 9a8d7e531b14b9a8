package dev.vivarium.core.git;

import dev.vivarium.core.run.Runs;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Run;
import dev.vivarium.model.RunId;
import dev.vivarium.model.RunRepository;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/// Decides which repository the programs of a sandbox may reach: that of an active run, or of a run for which the
/// server itself fetches or pushes. Thread-safe.
public final class RelayAccess {
    private final RunRepositories repositories;
    private final Runs runs;

    /// Runs for which a command of the server works in the sandbox.
    private final Set<RunId> opened = ConcurrentHashMap.newKeySet();

    public RelayAccess(RunRepositories repositories, Runs runs) {
        this.repositories = repositories;
        this.runs = runs;
    }

    /// A period in which a run may reach its remote.
    interface Opening extends AutoCloseable {
        @Override
        void close();
    }

    /// Lets a run reach its remote, also after its end.
    Opening open(RunId run) {
        boolean isNew = opened.add(run);
        return () -> {
            if (isNew) {
                opened.remove(run);
            }
        };
    }

    /// Returns the repository that a program of the sandbox requests. Fails with `not-allowed`.
    ///
    /// @param relayId see [GitWorkspaces#relayId]
    public RunRepository admit(SandboxId sandbox, String relayId) {
        return repositories.ofSandbox(sandbox).stream()
                .filter(work -> GitWorkspaces.relayId(work.repository().url()).equals(relayId))
                .filter(this::isReachable)
                .findFirst()
                .orElseThrow(() -> new SandboxException(
                        new Failure.NotAllowed("no active run of this sandbox works on this repository")));
    }

    private boolean isReachable(RunRepository work) {
        return opened.contains(work.run())
                || runs.find(work.run()).filter(Run::isActive).isPresent();
    }
}
