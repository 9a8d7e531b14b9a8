package dev.vivarium.core.provider.oci;

import dev.vivarium.core.provider.FileTrees;
import dev.vivarium.core.provider.MachineSpec;
import dev.vivarium.model.Limits;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/// What the runtime is told: the `config.json` of a machine. One text for all three runtimes; it names only paths below
/// the stage. Immutable.
record Bundle(Path stage, MachineSpec spec, int base, String cgroup, boolean limitsSwap, OciRuntime runtime) {
    static final String WORKSPACE = "/workspace";

    /// What tells of the host, or could be used to change it.
    private static final List<String> MASKED = List.of(
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

    private static final List<String> READ_ONLY = List.of("/proc/irq", "/proc/sys", "/proc/sysrq-trigger");

    private static final String[] TERMINALS = {"nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"};

    /// The host has some three thousand terminals for all machines together.
    private static final String MOST_TERMINALS = "max=64";

    void write(RunDirectory directory) throws IOException {
        FileTrees.writePrivately(directory.path().resolve("config.json"), config());
        showMemory(directory.meminfo(), spec.limits().memoryBytes());
    }

    /// Writes what `/proc/meminfo` shows inside. Always the same length and in place: the file is bound into the
    /// running machine, so a new one would not be seen, and a reader must not find half of it.
    static void showMemory(Path file, long bytes) throws IOException {
        long kilobytes = bytes / 1024;
        var text = """
                MemTotal:       %12d kB
                MemFree:        %12d kB
                MemAvailable:   %12d kB
                Buffers:        %12d kB
                Cached:         %12d kB
                SwapCached:     %12d kB
                SwapTotal:      %12d kB
                SwapFree:       %12d kB
                Shmem:          %12d kB
                SReclaimable:   %12d kB
                """.formatted(kilobytes, kilobytes, kilobytes, 0, 0, 0, 0, 0, 0, 0);
        try (var channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII)), 0);
        }
    }

    private String config() {
        return """
                {"ociVersion": "1.0.2", "hostname": %s,
                 "root": {"path": "rootfs", "readonly": true},
                 "process": %s,
                 "mounts": %s,
                 "linux": {
                  "uidMappings": [{"containerID": 0, "hostID": %d, "size": %d}],
                  "gidMappings": [{"containerID": 0, "hostID": %d, "size": %d}],
                  "namespaces": [{"type": "pid"}, {"type": "network"}, {"type": "ipc"}, {"type": "uts"},
                                 {"type": "mount"}, {"type": "cgroup"}, %s],
                  "cgroupsPath": %s,
                  "resources": %s,
                  "maskedPaths": %s,
                  "readonlyPaths": %s}}
                """.formatted(
                        quote(spec.id().value()),
                        process(),
                        mounts(),
                        base,
                        UidSlots.RANGE,
                        base,
                        UidSlots.RANGE,
                        userNamespace(),
                        quote(cgroup),
                        resources(),
                        list(MASKED),
                        list(READ_ONLY));
    }

    /// The launcher's own, which the range owns and not root: what the kernel counts by user is then counted for
    /// each machine. gVisor counts by itself.
    private String userNamespace() {
        return runtime.sharesTheKernel()
                ? "{\"type\": \"user\", \"path\": %s}"
                        .formatted(quote(stage.resolve("userns").toString()))
                : "{\"type\": \"user\"}";
    }

    /// The guest is root of its user range with four capabilities: to become the sandbox user, to signal its
    /// processes, and to drop the four for them. It loads the system call filter itself, which takes the runtime 16
    /// ms, and lowers its resource limits itself: runc would want to be the owner of the user namespace for that.
    private String process() {
        var capabilities = list(List.of("CAP_SETUID", "CAP_SETGID", "CAP_KILL", "CAP_SETPCAP"));
        return """
                {"user": {"uid": 0, "gid": 0}, "cwd": "/", "noNewPrivileges": true,
                  "args": %s, "env": %s,
                  "capabilities": {"bounding": %s, "permitted": %s, "effective": %s}}\
                """.formatted(
                        list(List.of(
                                "/run/vivarium-guest",
                                "init",
                                "--socket",
                                "/run/vivarium/s",
                                "--workspace",
                                WORKSPACE,
                                "--uid",
                                "1000",
                                "--gid",
                                "1000")),
                        list(List.of("VIV_SECRET=" + spec.secret())),
                        capabilities,
                        capabilities,
                        capabilities);
    }

    /// No `/sys`: programs ask the scheduler how many processors they have, and nothing else in it is their
    /// business.
    private String mounts() {
        long scratch = spec.limits().memoryBytes() / 2;
        var mounts = new ArrayList<>(List.of(
                mount("/proc", "proc", "proc", "nosuid", "nodev", "noexec"),
                mount("/dev", "tmpfs", "tmpfs", "nosuid", "noexec", "mode=755", "size=64k", "nr_inodes=64"),
                mount("/dev/pts", "devpts", "devpts", terminals()),
                mount("/dev/shm", "tmpfs", "shm", scratchOptions(scratch)),
                mount("/tmp", "tmpfs", "tmp", scratchOptions(scratch)),
                bind(WORKSPACE, "disk/workspace", "nosuid", "nodev"),
                bind("/run/vivarium", "wire", "nosuid", "nodev", "noexec"),
                bind("/run/vivarium-guest", "guest", "ro", "nosuid", "nodev")));
        if (runtime.sharesTheKernel()) {
            mounts.add(bind("/proc/meminfo", "meminfo", "ro", "nosuid", "nodev", "noexec"));
        }
        return mounts.stream().collect(Collectors.joining(",\n  ", "[", "]"));
    }

    private String[] terminals() {
        if (!runtime.sharesTheKernel()) {
            return TERMINALS;
        }
        var options = Arrays.copyOf(TERMINALS, TERMINALS.length + 1);
        options[TERMINALS.length] = MOST_TERMINALS;
        return options;
    }

    /// Bounded by memory anyway; the bound on inodes keeps empty files from eating kernel memory.
    private static String[] scratchOptions(long bytes) {
        return new String[] {"nosuid", "nodev", "mode=1777", "size=" + bytes, "nr_inodes=65536"};
    }

    private String bind(String destination, String source, String... options) {
        var all = new String[options.length + 1];
        all[0] = "bind";
        System.arraycopy(options, 0, all, 1, options.length);
        return mount(destination, "bind", stage.resolve(source).toString(), all);
    }

    private static String mount(String destination, String type, String source, String... options) {
        return "{\"destination\": %s, \"type\": %s, \"source\": %s, \"options\": %s}"
                .formatted(quote(destination), quote(type), quote(source), list(List.of(options)));
    }

    private String resources() {
        Limits limits = spec.limits();
        var swap = limitsSwap ? ", \"swap\": " + limits.memoryBytes() : "";
        // gVisor's own workers count as processes of the group, so a small number would end it at random.
        var pids = runtime.sharesTheKernel() ? ", \"pids\": {\"limit\": " + limits.processes() + "}" : "";
        return "{\"memory\": {\"limit\": %d%s}, \"cpu\": {\"quota\": %d, \"period\": %d}%s}"
                .formatted(limits.memoryBytes(), swap, Cgroups.quotaMicros(limits), Cgroups.PERIOD_MICROS, pids);
    }

    private static String list(List<String> values) {
        return values.stream().map(Bundle::quote).collect(Collectors.joining(", ", "[", "]"));
    }

    /// A JSON string. What is not plain ASCII is escaped, so that no encoding matters.
    static String quote(String text) {
        var quoted = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < ' ' || c > '~') {
                quoted.append("\\u%04x".formatted((int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }
}
