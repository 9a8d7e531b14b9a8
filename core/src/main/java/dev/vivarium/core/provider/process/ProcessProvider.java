package dev.vivarium.core.provider.process;

import dev.vivarium.core.provider.Capabilities;
import dev.vivarium.core.provider.FileOperation;
import dev.vivarium.core.provider.FileTrees;
import dev.vivarium.core.provider.GuestListener;
import dev.vivarium.core.provider.GuestPrograms;
import dev.vivarium.core.provider.HostProcess;
import dev.vivarium.core.provider.Inventory;
import dev.vivarium.core.provider.Label;
import dev.vivarium.core.provider.Machine;
import dev.vivarium.core.provider.MachineSpec;
import dev.vivarium.core.provider.OrphanWatcher;
import dev.vivarium.core.provider.Polling;
import dev.vivarium.core.provider.Provider;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SnapshotId;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Provider of machines without isolation: commands run as the user of the server, with all its rights. For tests and
/// for laptops without root; its capabilities and the log state that. Thread-safe; start and remove of the same id must
/// not overlap.
public final class ProcessProvider implements Provider {
    private static final Logger LOG = LoggerFactory.getLogger(ProcessProvider.class);
    private static final Duration DEATH_TIMEOUT = Duration.ofSeconds(30);
    private static final int SOCKET_LENGTH = "/sbx/wire/s.new".length() + 20;

    private final Path run;
    private final Path disks;
    private final Snapshots snapshots;
    private final Inventory inventory;
    private final Path guestBinary;
    private final int user;
    private final OrphanWatcher watcher;
    private final Map<SandboxId, ProcessMachine> machines = new ConcurrentHashMap<>();

    private ProcessProvider(Path run, Path disks, Path guestBinary, int user, OrphanWatcher watcher) {
        this.run = run;
        this.disks = disks;
        this.snapshots = new Snapshots(disks.resolveSibling("snapshots"));
        this.inventory =
                new Inventory(disks.resolveSibling("orphans"), new PlainPlaces(run, disks, snapshots.directory()));
        this.guestBinary = guestBinary;
        this.user = user;
        this.watcher = watcher;
    }

    public static ProcessProvider open(Path home, GuestPrograms programs) {
        var real = home.toAbsolutePath().normalize();
        var run = real.resolve("run");
        if (run.toString().getBytes(StandardCharsets.UTF_8).length + SOCKET_LENGTH > GuestListener.LONGEST_PATH) {
            throw SandboxException.invalid("home", "is too long a path for the sockets below it; choose a shorter one");
        }
        LOG.warn("the process provider does not isolate: commands run as the server's own user and see all it sees");
        try {
            int user = (int) Files.getAttribute(Path.of("/proc/self"), "unix:uid");
            FileTrees.make(run, "rwx------");
            // The real path, because processes are identified by their working directory.
            var disks = FileTrees.make(real.resolve("disks"), "rwx------").toRealPath();
            var watcher = new OrphanWatcher(programs.launcher(), real, run, List.of());
            var provider = new ProcessProvider(run, disks, programs.guest(), user, watcher);
            provider.watchMachines();
            return provider;
        } catch (IOException e) {
            throw FileOperation.OPEN.failed(e);
        }
    }

    /// Machines of an earlier server need a watcher before a machine is started here.
    private void watchMachines() {
        if (!machinesIn(run).isEmpty()) {
            watcher.ensure();
        }
    }

    @Override
    public String name() {
        return "process";
    }

    @Override
    public Capabilities capabilities() {
        return new Capabilities(
                "none: commands run as the server's own user and see all it sees",
                "none",
                "copy",
                "none",
                "none",
                false,
                true,
                false);
    }

    @Override
    public Machine start(MachineSpec spec) {
        var id = spec.id();
        requireImage(spec.image());
        if (isAlive(id)) {
            throw FileOperation.START.failed(id + " runs already");
        }
        boolean hadDisk = Files.exists(disk(id));
        remove(id, Disk.KEEP);
        try {
            return launch(spec, !hadDisk);
        } catch (IOException e) {
            remove(id, hadDisk ? Disk.KEEP : Disk.ERASE);
            throw FileOperation.START.failed(e);
        } catch (RuntimeException e) {
            remove(id, hadDisk ? Disk.KEEP : Disk.ERASE);
            throw e;
        }
    }

    @Override
    public void requireImage(String name) {
        Failure.InvalidRequest.require(
                name.equals("host"), "image", "must be 'host': the process provider has no others");
    }

    private Machine launch(MachineSpec spec, boolean isNew) throws IOException {
        var id = spec.id();
        var directory = FileTrees.make(directory(id), "rwx------");
        watcher.ensure();
        inventory.recordMachine(spec, isNew);
        if (isNew) {
            inventory.label(id, new Label(spec.store(), Map.of()));
        }
        FileTrees.make(directory.resolve("wire"), "rwx------");
        FileTrees.make(tree(id).workspace(), "rwxr-xr-x");
        var machine = machine(id);
        machines.put(id, machine);
        machine.listen();
        var builder = new ProcessBuilder(command(spec))
                .redirectInput(new File("/dev/null"))
                .redirectOutput(new File("/dev/null"))
                .redirectError(directory.resolve("log").toFile());
        builder.environment().clear();
        builder.environment().putAll(Map.of("VIV_SECRET", spec.secret(), "VIV_SANDBOX", id.value()));
        long pid = builder.start().pid();
        Files.writeString(directory.resolve("pid"), Long.toString(pid));
        return machine;
    }

    private List<String> command(MachineSpec spec) {
        var id = spec.id();
        return List.of(
                guestBinary.toString(),
                "init",
                "--plain",
                "--cpus",
                Integer.toString(spec.limits().visibleCpus()),
                "--orphan-grace",
                Long.toString(MachineSpec.seconds(spec.grace().first())),
                "--socket",
                ProcessMachine.socket(directory(id)).toString(),
                "--workspace",
                tree(id).workspace().toString());
    }

    private ProcessMachine machine(SandboxId id) {
        return new ProcessMachine(id, directory(id), user, tree(id), () -> isAlive(id));
    }

    private boolean isAlive(SandboxId id) {
        try {
            return tree(id).isGuest(
                            Long.parseLong(Files.readString(directory(id).resolve("pid"))));
        } catch (NoSuchFileException | NumberFormatException e) {
            return false;
        } catch (IOException e) {
            // For example, too many open files: the machine must not look dead.
            throw FileOperation.FIND.failed(e);
        }
    }

    @Override
    public Optional<Machine> adopt(SandboxId id, Duration timeout) {
        return isAlive(id) ? Optional.of(machines.computeIfAbsent(id, this::machine)) : Optional.empty();
    }

    @Override
    public Set<SandboxId> survivors() {
        var ids = machinesIn(run);
        ids.addAll(machinesIn(disks));
        return ids;
    }

    private static Set<SandboxId> machinesIn(Path directory) {
        return FileOperation.FIND.get(() -> FileTrees.ids(directory, SandboxId::isWellFormed, SandboxId::new));
    }

    @Override
    public void remove(SandboxId id, Disk disk) {
        var machine = machines.remove(id);
        if (machine != null) {
            machine.close();
        }
        try {
            if (Files.exists(directory(id)) || Files.exists(disk(id))) {
                end(tree(id));
            }
            FileTrees.delete(directory(id));
            if (disk == Disk.ERASE) {
                FileTrees.delete(disk(id));
                FileTrees.delete(FileTrees.unfinished(disk(id)));
                inventory.deleteLabel(id);
            }
        } catch (IOException e) {
            throw FileOperation.REMOVE.failed(e);
        }
    }

    @Override
    public long snapshot(SandboxId id, SnapshotId snapshot) {
        return FileOperation.TAKE_SNAPSHOT.get(() -> snapshots.save(disk(id), snapshot));
    }

    @Override
    public void restore(SandboxId id, SnapshotId snapshot) {
        if (isAlive(id)) {
            throw FileOperation.RESTORE_SNAPSHOT.failed(id + " runs");
        }
        FileOperation.RESTORE_SNAPSHOT.run(() -> snapshots.restore(snapshot, disk(id)));
    }

    @Override
    public void deleteSnapshot(SnapshotId snapshot) {
        FileOperation.DELETE_SNAPSHOT.run(() -> {
            snapshots.delete(snapshot);
            inventory.deleteLabel(snapshot);
        });
    }

    @Override
    public Set<SnapshotId> snapshots() {
        return FileOperation.FIND_SNAPSHOTS.get(() -> snapshots.all());
    }

    @Override
    public Inventory inventory() {
        return inventory;
    }

    /// Stops all processes before it kills any, because a stopped process cannot create children.
    private static void end(ProcessTree tree) {
        tree.forEach(Signals::stop);
        if (!Polling.until(DEATH_TIMEOUT, () -> {
            tree.all().forEach(HostProcess::kill);
            return tree.all().isEmpty();
        })) {
            throw FileOperation.REMOVE.failed("its processes do not die");
        }
    }

    private Path directory(SandboxId id) {
        return run.resolve(id.value());
    }

    private Path disk(SandboxId id) {
        return disks.resolve(id.value());
    }

    private ProcessTree tree(SandboxId id) {
        return new ProcessTree("VIV_SANDBOX=" + id, disk(id).resolve("workspace"));
    }

    @Override
    public void close() {
        machines.values().forEach(ProcessMachine::close);
        machines.clear();
        if (!Files.isDirectory(run) || machinesIn(run).isEmpty()) {
            watcher.end();
        } else {
            watcher.release();
        }
    }
}
