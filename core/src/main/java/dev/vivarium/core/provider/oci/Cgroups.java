package dev.vivarium.core.provider.oci;

import dev.vivarium.core.provider.HostProcess;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Limits;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The cgroup hierarchies of the host, detected once, with one branch for the machines of this provider. Thread-safe.
final class Cgroups implements AutoCloseable {
    static final long PERIOD_MICROS = 100_000;
    private static final String ROOT = "vivarium";
    private static final Set<String> NEEDED = Set.of("cpu", "cpuacct", "memory", "pids", "freezer");
    private static final int ATTEMPTS = 100;

    /// Usual weight of a group, in a hierarchy of version 1 and of version 2.
    private static final int SHARES = 1024;

    private static final int WEIGHT = 100;
    private static final String IDLE = "cpu.idle";

    /// A low weight in either version.
    private static final String LOW = "10";

    /// More than the guest uses, so that its memory is not the user's.
    private static final long GUEST_BYTES = 8 << 20;

    private static final double MAX_SHARE_OF_HOST = 0.9;
    private static final double FORKING_CPUS = 0.2;

    private static final String ANTICIPATED = "pids";
    /// Shorter than a grace period, so that grace periods follow each other under a series of starts.
    private static final long ANTICIPATION_NANOS = Duration.ofMillis(3).toNanos();

    private final Mode mode;
    /// Mount point of the hierarchy of each controller; for v2, the single entry has no name.
    private final Map<String, Path> hierarchies;
    private final Optional<Path> unified;
    private final String branch;

    /// Time of the last action of [#anticipateMove], by `System.nanoTime`.
    private final AtomicLong anticipated = new AtomicLong(System.nanoTime() - ANTICIPATION_NANOS);

    enum Mode {
        V1,
        V2,
        /// Both are mounted. The controllers are on v1, and the unified hierarchy is hidden from the runtime.
        HYBRID
    }

    private Cgroups(Mode mode, Map<String, Path> hierarchies, Optional<Path> unified, String branch) {
        this.mode = mode;
        this.hierarchies = hierarchies;
        this.unified = unified;
        this.branch = branch;
    }

    /// Detects the mounted hierarchies and creates a branch. Its name separates the machines of different servers.
    static Cgroups open(String branch) throws IOException {
        var cgroups = detect(branch);
        try {
            for (var hierarchy : cgroups.branching()) {
                cgroups.makeBranch(hierarchy);
            }
        } catch (IOException | RuntimeException e) {
            cgroups.close();
            throw e;
        }
        return cgroups;
    }

    private static Cgroups detect(String branch) throws IOException {
        var v1 = new TreeMap<String, Path>();
        Optional<Path> v2 = Optional.empty();
        for (var line : Files.readAllLines(Path.of("/proc/self/mountinfo"))) {
            var fields = List.of(line.split(" "));
            int dash = fields.indexOf("-");
            var point = Path.of(fields.get(4));
            switch (fields.get(dash + 1)) {
                case "cgroup" -> controllers(fields.getLast()).forEach(name -> v1.put(name, point));
                case "cgroup2" -> v2 = Optional.of(point);
                default -> {}
            }
        }
        return of(v1, v2, branch);
    }

    /// Hierarchies in which machines have their own group.
    private Set<Path> branching() {
        return mode == Mode.V2
                ? Set.copyOf(hierarchies.values())
                : CgroupV1.JOINED.stream()
                        .map(hierarchies::get)
                        .filter(Objects::nonNull)
                        .collect(Collectors.toUnmodifiableSet());
    }

    private void makeBranch(Path hierarchy) throws IOException {
        var root = hierarchy.resolve(ROOT);
        for (int attempt = 0; ; attempt++) {
            try {
                Files.createDirectories(root.resolve(branch));
                break;
            } catch (NoSuchFileException e) {
                // Another server has just exited and removed the empty root.
                if (attempt == ATTEMPTS) {
                    throw e;
                }
            }
        }
        if (mode == Mode.V2) {
            new UnifiedHierarchy(hierarchy).enableControllers(root.resolve(branch));
        }
    }

    /// Selects the version by the mount points of the v1 controllers and of the unified hierarchy.
    static Cgroups of(Map<String, Path> v1, Optional<Path> v2, String branch) {
        if (v1.keySet().containsAll(NEEDED)) {
            return new Cgroups(v2.isPresent() ? Mode.HYBRID : Mode.V1, Map.copyOf(v1), v2, branch);
        }
        var missing = v2.map(root -> new UnifiedHierarchy(root).missing());
        if (missing.filter(List::isEmpty).isPresent()) {
            return new Cgroups(Mode.V2, Map.of("", v2.orElseThrow()), v2, branch);
        }
        var lacking = missing.filter(names -> Collections.disjoint(v1.keySet(), NEEDED))
                .orElseGet(() -> NEEDED.stream()
                        .filter(name -> !v1.containsKey(name))
                        .sorted()
                        .toList());
        throw new SandboxException(new Failure.Unsupported(
                "the oci provider", "the cgroups that are mounted here lack " + String.join(", ", lacking)));
    }

    private static List<String> controllers(String options) {
        return Arrays.stream(options.split(","))
                .filter(option -> !option.equals("rw") && !option.equals("xattr"))
                .filter(option -> !option.startsWith("release_agent="))
                .map(option -> option.startsWith("name=") ? option.substring(5) : option)
                .toList();
    }

    /// Memory of a machine: that of its user, and that of the guest, which is bounded.
    static long memoryBytes(Limits limits) {
        return limits.memoryBytes() + GUEST_BYTES;
    }

    /// Quota of a machine. It never covers all processors, so that one machine alone leaves a part to the host.
    static long quotaMicros(Limits limits, CpuFairness.Level level) {
        double max = level == CpuFairness.Level.FORKING
                ? FORKING_CPUS
                : MAX_SHARE_OF_HOST * Runtime.getRuntime().availableProcessors();
        return Math.round(Math.min(limits.cpus(), max) * PERIOD_MICROS);
    }

    /// Sets the priority of a machine beside the others. Processes of an idle group yield to every other one as
    /// soon as it wakes up. Kernels before 5.15 have no such groups.
    static void priority(Path group, String file, String normal, CpuFairness.Level level) {
        boolean isBusy = level == CpuFairness.Level.BUSY;
        if (Files.exists(group.resolve(IDLE))) {
            // The kernel refuses a weight for an idle group.
            ControlFiles.write(group, IDLE, isBusy ? "1" : "0");
            if (isBusy) {
                return;
            }
        }
        ControlFiles.write(group, file, isBusy ? LOW : normal);
    }

    /// Sets the weight of all machines together beside the server, as a multiple of the usual weight.
    void weight(int times) {
        var file = mode == Mode.V2 ? "cpu.weight" : "cpu.shares";
        var usual = mode == Mode.V2 ? WEIGHT : SHARES;
        var hierarchy = hierarchies.get(mode == Mode.V2 ? "" : "cpu");
        if (hierarchy != null) {
            ControlFiles.write(hierarchy.resolve(ROOT), file, String.valueOf(times * usual));
        }
    }

    /// Processor time of all machines, removed ones included.
    Duration cpuTime() {
        var below = Path.of(ROOT, branch);
        return mode == Mode.V2
                ? CgroupV2.cpuTime(unified.orElseThrow().resolve(below))
                : CgroupV1.cpuTime(hierarchies.getOrDefault("cpuacct", below).resolve(below));
    }

    Mode mode() {
        return mode;
    }

    /// Mounts to hide from the runtime: crun refuses to start if both versions are mounted.
    List<Path> hidden() {
        return mode == Mode.HYBRID ? unified.stream().toList() : List.of();
    }

    /// Reports whether swap can be limited together with memory.
    boolean limitsSwap() {
        var memory = hierarchies.get(mode == Mode.V2 ? "" : "memory");
        var name = mode == Mode.V2 ? "memory.swap.max" : "memory.memsw.limit_in_bytes";
        return memory != null
                && Files.exists(memory.resolve(ROOT).resolve(branch).resolve(name));
    }

    /// Path in each hierarchy, for the bundle.
    String path(SandboxId id) {
        return "/" + ROOT + "/" + branch + "/" + id;
    }

    Cgroup of(SandboxId id) {
        var below = Path.of(ROOT, branch, id.value());
        return switch (mode) {
            case V2 -> new CgroupV2(unified.orElseThrow().resolve(below), limitsSwap());
            case V1, HYBRID -> {
                var directories = new TreeMap<String, Path>();
                hierarchies.forEach((name, point) -> directories.put(name, point.resolve(below)));
                yield new CgroupV1(directories, limitsSwap());
            }
        };
    }

    /// Requests from the kernel, in the background, the grace period that a move of a process into a v1 group waits
    /// for. It takes at least ten milliseconds, unless another move precedes it. With a request at the begin of a
    /// start, it is over when the runtime moves the init of the machine. No process moves: this process is written
    /// to its own group.
    void anticipateMove() {
        long now = System.nanoTime();
        long last = anticipated.get();
        if (mode == Mode.V2 || now - last < ANTICIPATION_NANOS || !anticipated.compareAndSet(last, now)) {
            return;
        }
        Thread.ofPlatform().daemon().name("cgroup-anticipation").start(this::moveToOwnGroup);
    }

    private void moveToOwnGroup() {
        long self = ProcessHandle.current().pid();
        var hierarchy = hierarchies.get(ANTICIPATED);
        for (var line : HostProcess.read(self, "cgroup").lines().toList()) {
            var fields = line.split(":", 3);
            if (hierarchy != null && List.of(fields[1].split(",")).contains(ANTICIPATED)) {
                try {
                    var group = hierarchy.resolve(fields[2].substring(1));
                    ControlFiles.writeIfThere(group, "cgroup.procs", Long.toString(self));
                } catch (SandboxException e) {
                    // The start then takes its usual time.
                }
            }
        }
    }

    /// Options of the orphan watcher: the groups of machines, and the groups of the watcher itself. Service
    /// managers assign processes to a service by the hierarchies in which the watcher has a group.
    List<String> watcherOptions() {
        var options = new ArrayList<String>();
        for (var hierarchy : Set.copyOf(hierarchies.values())) {
            options.addAll(
                    List.of("--group", hierarchy.resolve(ROOT).resolve(branch).toString()));
        }
        watcherGroups().forEach(group -> options.addAll(List.of("--own-group", group.toString())));
        return options;
    }

    private List<Path> watcherGroups() {
        return Stream.concat(unified.stream(), Stream.ofNullable(hierarchies.get("systemd")))
                .map(hierarchy -> hierarchy.resolve(ROOT + "-watcher-" + branch))
                .toList();
    }

    /// Every machine with a group.
    Set<SandboxId> survivors() throws IOException {
        var ids = new HashSet<SandboxId>();
        for (var hierarchy : Set.copyOf(hierarchies.values())) {
            ids.addAll(RunDirectory.list(hierarchy.resolve(ROOT).resolve(branch)));
        }
        return ids;
    }

    /// Removes the branch if it has no machines.
    @Override
    public void close() {
        for (var hierarchy : Set.copyOf(hierarchies.values())) {
            var root = hierarchy.resolve(ROOT);
            removeIfBare(root.resolve(branch));
            removeIfBare(root);
        }
        // A killed watcher leaves these groups.
        watcherGroups().forEach(Cgroups::removeIfBare);
    }

    private static void removeIfBare(Path directory) {
        try {
            Files.deleteIfExists(directory);
        } catch (IOException e) {
            // Another server, or a running machine, is in it.
        }
    }
}
