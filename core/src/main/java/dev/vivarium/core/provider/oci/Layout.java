package dev.vivarium.core.provider.oci;

import dev.vivarium.core.provider.MachineSpec;
import java.util.ArrayList;
import java.util.List;

/// File systems and start command of a machine, from which the configuration of each runtime is derived. Immutable.
///
/// @param mounts file systems of the kernel
/// @param binds  bind mounts, with names relative to the stage
record Layout(List<Mount> mounts, List<Mount> binds) {
    static final String WORKSPACE = "/workspace";

    private static final List<String> GUEST = List.of(
            "/run/vivarium-guest",
            "init",
            "--socket",
            "/run/vivarium/s",
            "--workspace",
            WORKSPACE,
            "--uid",
            "1000",
            "--gid",
            "1000");

    /// Environment variable with the secret of the guest.
    static final String SECRET = "VIV_SECRET";

    /// Paths that reveal information about the host, or could change it.
    static final List<String> MASKED = List.of(
            "/proc/acpi",
            "/proc/asound",
            "/proc/bus",
            "/proc/cmdline",
            "/proc/config.gz",
            "/proc/diskstats",
            "/proc/fs",
            "/proc/interrupts",
            "/proc/kallsyms",
            "/proc/kcore",
            "/proc/keys",
            "/proc/key-users",
            "/proc/kmsg",
            "/proc/kpagecgroup",
            "/proc/kpagecount",
            "/proc/kpageflags",
            "/proc/latency_stats",
            "/proc/modules",
            "/proc/partitions",
            "/proc/sched_debug",
            "/proc/scsi",
            "/proc/slabinfo",
            "/proc/softirqs",
            "/proc/timer_list",
            "/proc/timer_stats",
            "/proc/vmallocinfo");

    static final List<String> READ_ONLY = List.of("/proc/irq", "/proc/sys", "/proc/sysrq-trigger");

    private static final List<String> TERMINALS =
            List.of("nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620");

    /// The host has about three thousand terminals for all machines together.
    private static final String MAX_TERMINALS = "max=64";

    /// @param source a type of file system, or a name below the stage
    record Mount(String source, String target, List<String> options) {
        private static Mount of(String source, String target, String... options) {
            return new Mount(source, target, List.of(options));
        }
    }

    /// Command line of the guest inside the machine.
    static List<String> guest(MachineSpec spec) {
        var command = new ArrayList<>(GUEST);
        command.addAll(List.of("--cpus", Integer.toString(spec.limits().visibleCpus())));
        command.addAll(List.of(
                "--orphan-grace", Long.toString(MachineSpec.seconds(spec.grace().first()))));
        return List.copyOf(command);
    }

    /// No `/sys`: programs get the number of processors from the scheduler, and need nothing else from it. Memory
    /// bounds the scratch space; the limit on inodes keeps empty files from using kernel memory.
    static Layout of(MachineSpec spec, OciRuntime runtime) {
        var scratch = new String[] {
            "nosuid", "nodev", "mode=1777", "size=" + spec.limits().memoryBytes() / 2, "nr_inodes=65536"
        };
        var binds = new ArrayList<>(List.of(
                Mount.of("disk/workspace", WORKSPACE, "nosuid", "nodev"),
                Mount.of("wire", "/run/vivarium", "nosuid", "nodev", "noexec"),
                Mount.of("guest", "/run/vivarium-guest", "ro", "nosuid", "nodev")));
        if (runtime.sharesTheKernel()) {
            binds.add(Mount.of("meminfo", "/proc/meminfo", "ro", "nosuid", "nodev", "noexec"));
        }
        return new Layout(
                List.of(
                        Mount.of("proc", "/proc", "nosuid", "nodev", "noexec"),
                        Mount.of("tmpfs", "/dev", "nosuid", "noexec", "mode=755", "size=64k", "nr_inodes=64"),
                        new Mount("devpts", "/dev/pts", terminals(runtime)),
                        Mount.of("tmpfs", "/dev/shm", scratch),
                        Mount.of("tmpfs", "/tmp", scratch)),
                List.copyOf(binds));
    }

    private static List<String> terminals(OciRuntime runtime) {
        var options = new ArrayList<>(TERMINALS);
        if (runtime.sharesTheKernel()) {
            options.add(MAX_TERMINALS);
        }
        return List.copyOf(options);
    }
}
