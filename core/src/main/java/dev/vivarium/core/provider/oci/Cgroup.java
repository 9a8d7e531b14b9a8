package dev.vivarium.core.provider.oci;

import dev.vivarium.core.provider.Machine;
import dev.vivarium.model.Limits;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/// Cgroup of one machine, of either version. Thread-safe: the kernel holds the state.
sealed interface Cgroup permits CgroupV1, CgroupV2 {
    /// Freezes every process, and returns when all are frozen.
    void freeze();

    void thaw();

    void limit(Limits limits, CpuFairness.Level level);

    /// Processor time of all processes since the start.
    Duration cpuTime();

    /// Number of forks that failed at the process limit since the start.
    long failedForks();

    /// Options with which the launcher creates the group, sets its limits and starts the machine in it.
    List<String> launchOptions(Limits limits);

    Machine.Usage usage();

    /// Control file with a line `oom_kill` and the number of OOM kills.
    Path oomEvents();

    /// Processes in the group and in the groups below it.
    List<Long> processes();

    /// Threads in the group.
    List<Long> threads();

    /// Sends SIGKILL to every process in the group, frozen or not.
    void kill();

    /// Reports whether no process is left.
    boolean isEmpty();

    /// Removes the group, if it exists. Returns true if it is gone.
    boolean remove();
}
