package dev.vivarium.core.provider.oci;

import static dev.vivarium.core.provider.oci.ControlFiles.field;
import static dev.vivarium.core.provider.oci.ControlFiles.number;
import static dev.vivarium.core.provider.oci.ControlFiles.read;
import static dev.vivarium.core.provider.oci.ControlFiles.write;
import static dev.vivarium.core.provider.oci.ControlFiles.writeIfThere;

import dev.vivarium.core.provider.Machine;
import dev.vivarium.core.provider.Patience;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Limits;
import dev.vivarium.model.SandboxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/// A machine's group in each of the first version's hierarchies. Thread-safe.
record CgroupV1(Map<String, Path> directories) implements Cgroup {
    private static final Duration FREEZE_PATIENCE = Duration.ofSeconds(5);

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
        // While it still says FREEZING, asking is what moves it on.
        if (!Patience.until(
                FREEZE_PATIENCE, () -> read(freezer, "freezer.state").equals("FROZEN"))) {
            write(freezer, "freezer.state", "THAWED");
            throw new SandboxException(new Failure.ProviderFailed("pause", "the processes did not freeze in time"));
        }
    }

    @Override
    public void thaw() {
        write(of("freezer"), "freezer.state", "THAWED");
    }

    @Override
    public void limit(Limits limits) {
        var memory = of("memory");
        var bytes = Long.toString(limits.memoryBytes());
        // Memory may never exceed memory and swap together: which one goes first depends on the direction.
        boolean grows = limits.memoryBytes() > number(memory, "memory.limit_in_bytes");
        for (var name : grows ? List.of("memsw.", "") : List.of("", "memsw.")) {
            writeIfThere(memory, "memory." + name + "limit_in_bytes", bytes);
        }
        write(of("cpu"), "cpu.cfs_quota_us", Long.toString(Cgroups.quotaMicros(limits)));
        write(of("pids"), "pids.max", Integer.toString(limits.processes()));
    }

    @Override
    public Machine.Usage usage() {
        return new Machine.Usage(
                number(of("memory"), "memory.usage_in_bytes"),
                Duration.ofNanos(number(of("cpuacct"), "cpuacct.usage")),
                Math.toIntExact(number(of("pids"), "pids.current")),
                field(of("memory"), "memory.oom_control", "oom_kill"));
    }

    @Override
    public void kill() {
        directories.values().forEach(ControlFiles::killAll);
        // A frozen process of this version dies only once it is thawed.
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
