package dev.vivarium.core.provider.oci;

import static dev.vivarium.core.provider.oci.ControlFiles.field;
import static dev.vivarium.core.provider.oci.ControlFiles.number;
import static dev.vivarium.core.provider.oci.ControlFiles.read;
import static dev.vivarium.core.provider.oci.ControlFiles.write;
import static dev.vivarium.core.provider.oci.ControlFiles.writeIfThere;

import dev.vivarium.core.provider.Machine;
import dev.vivarium.core.provider.Polling;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Limits;
import dev.vivarium.model.SandboxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/// Group of a machine in each hierarchy of cgroup version 1. Thread-safe.
record CgroupV1(Map<String, Path> directories, boolean limitsSwap) implements Cgroup {
    private static final Duration FREEZE_TIMEOUT = Duration.ofSeconds(5);
    private static final String DEVICES = "devices";

    /// Hierarchies that a machine of the launcher joins. With `systemd`, because otherwise the machine would end
    /// with the unit of the server.
    static final List<String> JOINED = List.of("memory", "cpu", "cpuacct", "pids", "freezer", DEVICES, "systemd");

    /// null, zero, full, random, urandom, tty, and terminals. No file system inside has other devices, and none can
    /// be created there; this is an additional layer of protection.
    private static final List<String> ALLOWED_DEVICES =
            List.of("c 1:3 rw", "c 1:5 rw", "c 1:7 rw", "c 1:8 rw", "c 1:9 rw", "c 5:0 rw", "c 5:2 rw", "c 136:* rw");

    private Path of(String controller) {
        var directory = directories.get(controller);
        if (directory == null) {
            throw new SandboxException(
                    new Failure.Unsupported("the cgroup controller " + controller, "it is not mounted on this host"));
        }
        return directory;
    }

    @Override
    public void freeze() {
        var freezer = of("freezer");
        write(freezer, "freezer.state", "FROZEN");
        // While the state is FREEZING, each read advances it.
        if (!Polling.until(FREEZE_TIMEOUT, () -> read(freezer, "freezer.state").equals("FROZEN"))) {
            write(freezer, "freezer.state", "THAWED");
            throw new SandboxException(new Failure.ProviderFailed("pause", "the processes did not freeze in time"));
        }
    }

    @Override
    public void thaw() {
        write(of("freezer"), "freezer.state", "THAWED");
    }

    @Override
    public void limit(Limits limits, CpuFairness.Level level) {
        var memory = of("memory");
        var bytes = Long.toString(Cgroups.memoryBytes(limits));
        // Memory must never exceed memory plus swap, so the order of the writes depends on the direction.
        boolean grows = Cgroups.memoryBytes(limits) > number(memory, "memory.limit_in_bytes");
        for (var name : grows ? List.of("memsw.", "") : List.of("", "memsw.")) {
            writeIfThere(memory, "memory." + name + "limit_in_bytes", bytes);
        }
        write(of("cpu"), "cpu.cfs_quota_us", Long.toString(Cgroups.quotaMicros(limits, level)));
        Cgroups.priority(of("cpu"), "cpu.shares", "1024", level);
        write(of("pids"), "pids.max", Integer.toString(limits.processes()));
    }

    @Override
    public List<String> launchOptions(Limits limits) {
        var options = new ArrayList<String>();
        JOINED.stream()
                .map(directories::get)
                .filter(Objects::nonNull)
                .distinct()
                .forEach(directory -> options.addAll(List.of("--join", directory.toString())));
        var memory = Long.toString(Cgroups.memoryBytes(limits));
        options.addAll(setting("memory", "memory.limit_in_bytes", memory));
        if (limitsSwap()) {
            options.addAll(setting("memory", "memory.memsw.limit_in_bytes", memory));
        }
        options.addAll(setting("cpu", "cpu.cfs_period_us", Long.toString(Cgroups.PERIOD_MICROS)));
        options.addAll(setting(
                "cpu", "cpu.cfs_quota_us", Long.toString(Cgroups.quotaMicros(limits, CpuFairness.Level.NORMAL))));
        options.addAll(setting("pids", "pids.max", Integer.toString(limits.processes())));
        if (directories.containsKey(DEVICES)) {
            options.addAll(option("--seal", DEVICES, "devices.deny", "a"));
            ALLOWED_DEVICES.forEach(device -> options.addAll(option("--seal", DEVICES, "devices.allow", device)));
        }
        return options;
    }

    private List<String> setting(String controller, String name, String value) {
        return option("--set", controller, name, value);
    }

    private List<String> option(String option, String controller, String name, String value) {
        return List.of(option, of(controller).resolve(name).toString(), value);
    }

    @Override
    public Machine.Usage usage() {
        return new Machine.Usage(
                number(of("memory"), "memory.usage_in_bytes"),
                cpuTime(),
                Math.toIntExact(number(of("pids"), "pids.current")),
                field(of("memory"), "memory.oom_control", "oom_kill"));
    }

    @Override
    public Path oomEvents() {
        return of("memory").resolve("memory.oom_control");
    }

    @Override
    public Duration cpuTime() {
        return cpuTime(of("cpuacct"));
    }

    static Duration cpuTime(Path group) {
        return Duration.ofNanos(number(group, "cpuacct.usage"));
    }

    @Override
    public long failedForks() {
        return field(of("pids"), "pids.events", "max");
    }

    @Override
    public List<Long> threads() {
        return ControlFiles.numbers(of("cpu"), "tasks");
    }

    @Override
    public List<Long> processes() {
        return ControlFiles.processesBelow(of("pids"));
    }

    @Override
    public void kill() {
        directories.values().forEach(ControlFiles::killAll);
        // In version 1, a frozen process dies only after it is thawed.
        var freezer = directories.get("freezer");
        if (freezer != null && Files.isDirectory(freezer)) {
            writeIfThere(freezer, "freezer.state", "THAWED");
        }
    }

    @Override
    public boolean isEmpty() {
        return directories.values().stream()
                .allMatch(directory -> ControlFiles.processes(directory).isEmpty());
    }

    @Override
    public boolean remove() {
        return directories.values().stream().map(ControlFiles::remove).reduce(true, Boolean::logicalAnd);
    }
}
