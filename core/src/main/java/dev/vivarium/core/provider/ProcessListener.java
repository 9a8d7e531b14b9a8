package dev.vivarium.core.provider;

import dev.vivarium.model.SandboxId;
import java.time.Duration;

/// Listener for the processes that programs in machines start. One thread calls it. Its methods must return quickly.
public interface ProcessListener {
    /// A process executed its first program.
    ///
    /// @param pid process id in the machine
    void started(SandboxId machine, int pid, String commandLine);

    /// A process whose start was reported has exited.
    ///
    /// @param status status in the format of `wait`
    void exited(SandboxId machine, int pid, int status, Duration took);

    /// Processes started without a report: too many at once, or they exited too fast.
    void omitted(SandboxId machine, int processes);
}
