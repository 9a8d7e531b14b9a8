package dev.vivarium.model;

/// What one sandbox may use: memory, processor time, processes and disk. The kernel enforces all four. Immutable.
public record Limits(long memoryBytes, double cpus, int processes, long diskBytes) {
    private static final long MIB = 1024L * 1024;

    /// Enough for an agent's tools; small enough that a laptop holds dozens.
    public static final Limits STANDARD = new Limits(1024 * MIB, 2, 512, 1024 * MIB);

    public Limits {
        require(memoryBytes >= 16 * MIB, "memory", "must be at least 16 MiB");
        require(cpus >= 0.05 && cpus <= 1024, "cpus", "must be between 0.05 and 1024");
        require(processes >= 16 && processes <= 1_000_000, "processes", "must be between 16 and 1000000");
        require(diskBytes >= 16 * MIB, "disk", "must be at least 16 MiB");
    }

    /// What `nproc` says inside: a share of a processor is still one that one can see.
    public int visibleCpus() {
        return (int) Math.ceil(cpus);
    }

    private static void require(boolean holds, String field, String rule) {
        if (!holds) {
            throw new SandboxException(new Failure.InvalidRequest("limits." + field, rule));
        }
    }
}
