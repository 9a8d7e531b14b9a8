package dev.vivarium.model;

import static dev.vivarium.model.Failure.InvalidRequest.require;

/// Limits of one sandbox: memory, CPU, processes and disk. The kernel enforces all four. Immutable.
public record Limits(long memoryBytes, double cpus, int processes, long diskBytes) {
    private static final long MIB = 1024L * 1024;

    /// Default limits: sufficient for an agent's tools, and small enough for dozens of sandboxes on a laptop.
    public static final Limits STANDARD = new Limits(1024 * MIB, 2, 512, 1024 * MIB);

    public Limits {
        require(memoryBytes >= 16 * MIB, "limits.memory", "must be at least 16 MiB");
        require(cpus >= 0.05 && cpus <= 1024, "limits.cpus", "must be between 0.05 and 1024");
        require(processes >= 16 && processes <= 1_000_000, "limits.processes", "must be between 16 and 1000000");
        require(diskBytes >= 16 * MIB, "limits.disk", "must be at least 16 MiB");
    }

    /// Returns the number of CPUs that `nproc` prints inside: a fraction of a CPU counts as one.
    public int visibleCpus() {
        return (int) Math.ceil(cpus);
    }
}
