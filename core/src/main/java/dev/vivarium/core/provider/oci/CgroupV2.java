package dev.vivarium.core.provider.oci;

import static dev.vivarium.core.provider.oci.ControlFiles.field;
import static dev.vivarium.core.provider.oci.ControlFiles.number;
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

/// Group of a machine in the unified hierarchy. Thread-safe.
record CgroupV2(Path directory, boolean limitsSwap) implements Cgroup {
    private static final Duration FREEZE_TIMEOUT = Duration.ofSeconds(5);

    @Override
    public void freeze() {
        write(directory, "cgroup.freeze", "1");
        if (!Polling.until(FREEZE_TIMEOUT, () -> field(directory, "cgroup.events", "frozen") == 1)) {
            write(directory, "cgroup.freeze", "0");
            throw new SandboxException(new Failure.ProviderFailed("pause", "the processes did not freeze in time"));
        }
    }

    @Override
    public void thaw() {
        write(directory, "cgroup.freeze", "0");
    }

    @Override
    public void limit(Limits limits, CpuFairness.Level level) {
        write(directory, "memory.max", Long.toString(Cgroups.memoryBytes(limits)));
        write(directory, "cpu.max", Cgroups.quotaMicros(limits, level) + " " + Cgroups.PERIOD_MICROS);
        Cgroups.priority(directory, "cpu.weight", "100", level);
        write(directory, "pids.max", Integer.toString(limits.processes()));
    }

    @Override
    public List<String> launchOptions(Limits limits) {
        var options = new ArrayList<>(List.of("--unified", directory.toString()));
        options.addAll(setting("memory.max", Long.toString(Cgroups.memoryBytes(limits))));
        if (limitsSwap) {
            options.addAll(setting("memory.swap.max", "0"));
        }
        options.addAll(setting(
                "cpu.max", Cgroups.quotaMicros(limits, CpuFairness.Level.NORMAL) + " " + Cgroups.PERIOD_MICROS));
        options.addAll(setting("pids.max", Integer.toString(limits.processes())));
        return options;
    }

    private List<String> setting(String name, String value) {
        return List.of("--set", directory.resolve(name).toString(), value);
    }

    @Override
    public Machine.Usage usage() {
        return new Machine.Usage(
                number(directory, "memory.current"),
                cpuTime(),
                Math.toIntExact(number(directory, "pids.current")),
                field(directory, "memory.events", "oom_kill"));
    }

    @Override
    public Path oomEvents() {
        return directory.resolve("memory.events");
    }

    @Override
    public Duration cpuTime() {
        return cpuTime(directory);
    }

    static Duration cpuTime(Path group) {
        return Duration.ofNanos(1000 * field(group, "cpu.stat", "usage_usec"));
    }

    @Override
    public long failedForks() {
        return field(directory, "pids.events", "max");
    }

    @Override
    public List<Long> threads() {
        return ControlFiles.numbers(directory, "cgroup.threads");
    }

    @Override
    public List<Long> processes() {
        return ControlFiles.processesBelow(directory);
    }

    @Override
    public void kill() {
        if (Files.exists(directory.resolve("cgroup.kill"))) {
            writeIfThere(directory, "cgroup.kill", "1");
        } else {
            ControlFiles.killAll(directory);
        }
    }

    @Override
    public boolean isEmpty() {
        return field(directory, "cgroup.events", "populated") == 0;
    }

    @Override
    public boolean remove() {
        return ControlFiles.remove(directory);
    }
}
