package dev.vivarium.server.operation;

import dev.vivarium.core.access.Principal;
import dev.vivarium.core.run.Agents;
import dev.vivarium.core.run.Runs;
import dev.vivarium.core.sandbox.PauseReason;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.model.Run;
import dev.vivarium.model.SandboxInfo;
import java.util.Optional;

/// Operation that pauses and resumes a sandbox with all its processes. If the provider cannot freeze processes, the
/// worker of the active run holds the agent instead. Thread-safe.
public final class PauseSandbox {
    private final Agents agents;
    private final Runs runs;

    public PauseSandbox(Agents agents, Runs runs) {
        this.agents = agents;
        this.runs = runs;
    }

    /// The sandbox after the change, and its latest run. Immutable.
    public record Result(SandboxInfo sandbox, Optional<Run> run) {}

    /// Fails with [dev.vivarium.model.Failure.Unsupported] if the provider cannot freeze processes and no run is
    /// active.
    public Result pause(Principal caller, Sandbox sandbox) {
        agents.pause(sandbox, PauseReason.by(caller.name()));
        return result(sandbox);
    }

    public Result resume(Principal caller, Sandbox sandbox) {
        agents.resume(sandbox, PauseReason.by(caller.name()));
        return result(sandbox);
    }

    private Result result(Sandbox sandbox) {
        return new Result(sandbox.info(), runs.find(sandbox.id()));
    }
}
