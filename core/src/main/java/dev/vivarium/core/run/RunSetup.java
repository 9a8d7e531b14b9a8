package dev.vivarium.core.run;

import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.model.Run;
import java.util.Map;
import java.util.Optional;

/// Preparation of a sandbox for a run, before the worker starts. Implementations are thread-safe.
@FunctionalInterface
public interface RunSetup {
    /// Result for the worker. Immutable.
    ///
    /// @param directory absolute directory of the work inside the sandbox; the workspace if absent
    /// @param env       more variables
    record Prepared(Optional<String> directory, Map<String, String> env) {
        public static final Prepared NOTHING = new Prepared(Optional.empty(), Map.of());

        public Prepared {
            env = Map.copyOf(env);
        }
    }

    /// A run without a repository needs no preparation.
    RunSetup NONE = (_, _, _) -> Prepared.NOTHING;

    /// Prepares the sandbox. If it throws, the run fails with the reason.
    Prepared prepare(Sandbox sandbox, Run run, NewRun wanted);
}
