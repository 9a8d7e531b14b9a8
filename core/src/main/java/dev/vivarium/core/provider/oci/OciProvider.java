package dev.vivarium.core.provider.oci;

import dev.vivarium.core.Undo;
import dev.vivarium.core.image.Image;
import dev.vivarium.core.image.Images;
import dev.vivarium.core.provider.Capabilities;
import dev.vivarium.core.provider.FileOperation;
import dev.vivarium.core.provider.FileTrees;
import dev.vivarium.core.provider.HostProcess;
import dev.vivarium.core.provider.HostTool;
import dev.vivarium.core.provider.Inventory;
import dev.vivarium.core.provider.Label;
import dev.vivarium.core.provider.Machine;
import dev.vivarium.core.provider.MachineSpec;
import dev.vivarium.core.provider.OrphanWatcher;
import dev.vivarium.core.provider.Polling;
import dev.vivarium.core.provider.ProcessListener;
import dev.vivarium.core.provider.Provider;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SnapshotId;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Provider of machines that the launcher starts alone, or under crun, runc or gVisor. It needs root to mount, to map
/// users and to write cgroups; processes in a machine have none of these rights. Thread-safe; start and remove of the
/// same id must not overlap.
public final class OciProvider implements Provider {
    private static final Logger LOG = LoggerFactory.getLogger(OciProvider.class);
    /// Long, because the release of a disk waits for its unwritten data.
    private static final Duration DEATH_TIMEOUT = Duration.ofSeconds(30);

    private final OciConfig config;
    private final HostPaths place;
    private final Images images;
    private final Disks disks;
    private final DiskSnapshots snapshots;
    private final Inventory inventory;
    private final Cgroups cgroups;
    private final UidSlots slots;
    private final LaunchOptions launchOptions;
    private final ResidentLauncher launcher;
    private final OrphanWatcher watcher;
    private final Map<SandboxId, OciMachine> machines = new ConcurrentHashMap<>();
    private final CpuFairness fairness;
    private volatile Optional<ProcessReporter> reporter = Optional.empty();

    private OciProvider(
            OciConfig config, HostPaths place, Images images, Disks disks, Cgroups cgroups, UidSlots slots) {
        this.config = config;
        this.place = place;
        this.images = images;
        this.disks = disks;
        this.snapshots = disks.snapshots();
        this.inventory = new Inventory(
                config.home().resolve("orphans"), new OciInventory(config.home(), place, disks, snapshots));
        this.cgroups = cgroups;
        this.slots = slots;
        this.launchOptions = new LaunchOptions(config, place, disks, cgroups);
        this.launcher = new ResidentLauncher(config.programs().launcher());
        this.watcher =
                new OrphanWatcher(config.programs().launcher(), config.home(), place.run(), cgroups.watcherOptions());
        this.fairness = CpuFairness.start(cgroups, machines);
    }

    /// Probes the host and opens the provider on `config.home()`. Only one provider can be open on a home.
    public static OciProvider open(OciConfig config) {
        try (var undo = new Undo()) {
            requireRoot();
            var place = HostPaths.of(config.home());
            undo.add("remove the run directory", place::removeIfBare);
            var cgroups = undo.add(Cgroups.open(place.hash()));
            var disks = undo.add(Disks.open(config.home().resolve("disks")));
            var slots = undo.add(UidSlots.open(place.blocks(), place.run()));
            var left = RunDirectory.list(place.run());
            for (var id : left) {
                place.directory(id).slot().ifPresent(slot -> slots.claim((int) slot));
            }
            var provider = new OciProvider(config, place, Images.open(config.home()), disks, cgroups, slots);
            if (!left.isEmpty()) {
                provider.watcher.ensure();
            }
            undo.keep();
            return provider;
        } catch (IOException e) {
            throw FileOperation.OPEN.failed(e);
        }
    }

    private static void requireRoot() throws IOException {
        if (!Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0)) {
            throw new SandboxException(new Failure.Unsupported(
                    "the oci provider", "it needs root; run the server as root, or choose another provider"));
        }
    }

    @Override
    public String name() {
        return "oci/" + config.runtime().program();
    }

    @Override
    public Capabilities capabilities() {
        var kernel = config.runtime().sharesTheKernel()
                ? "namespaces with a user range of their own, no network, no capabilities, a system call filter"
                : "gVisor's own kernel, in namespaces with a user range of their own, no network";
        var mode = cgroups.mode().name().toLowerCase(Locale.ROOT);
        var processes = reporter.filter(ProcessReporter::isAlive).isPresent() ? "kernel" : "none";
        return new Capabilities(kernel, disks.limit(), snapshotsHow(), mode, processes, true, true, true);
    }

    @Override
    public void reportProcesses(ProcessListener listener) {
        if (config.runtime().sharesTheKernel()) {
            reporter = ProcessReporter.start(config.programs().launcher(), listener);
        } else {
            ProcessReporter.unsupported("with gVisor, the processes of a sandbox are not known to the host");
        }
    }

    private String snapshotsHow() {
        return config.runtime().sharesTheKernel() ? snapshots.how() : "none";
    }

    @Override
    public void requireImage(String name) {
        images.require(name);
    }

    @Override
    public Machine start(MachineSpec spec) {
        var id = spec.id();
        var image = images.require(spec.image());
        boolean hadDisk = hasDisk(id);
        if (place.directory(id).exists()) {
            removeStale(id);
        }
        try {
            return launch(spec, image, hadDisk);
        } catch (IOException e) {
            undo(id, hadDisk, e);
            throw FileOperation.START.failed(e);
        } catch (RuntimeException e) {
            undo(id, hadDisk, e);
            throw e;
        }
    }

    private boolean hasDisk(SandboxId id) {
        return FileOperation.START.get(() -> disks.exists(id));
    }

    /// Removes the rest of a stopped machine of an earlier server.
    private void removeStale(SandboxId id) {
        if (place.directory(id).isAlive()) {
            throw FileOperation.START.failed(id + " runs already");
        }
        remove(id, Disk.KEEP);
    }

    private void undo(SandboxId id, boolean hadDisk, Exception cause) {
        try {
            remove(id, hadDisk ? Disk.KEEP : Disk.ERASE);
        } catch (RuntimeException e) {
            cause.addSuppressed(e);
        }
    }

    private Machine launch(MachineSpec spec, Image image, boolean hadDisk) throws IOException {
        var id = spec.id();
        var directory = place.directory(id);
        int slot = slots.take();
        try {
            directory.make(slot, config.runtime());
            inventory.recordMachine(spec, !hadDisk);
        } catch (IOException e) {
            // From here on, the directory records the slot, and remove releases it.
            slots.release(slot);
            FileTrees.delete(directory.path());
            throw e;
        }
        watcher.ensure();
        directory.writeMemInfo(spec.limits().memoryBytes());
        if (!hadDisk && !disks.containStoreId()) {
            inventory.label(id, new Label(spec.store(), Map.of()));
        }
        var machine = new OciMachine(directory, cgroups.of(id), spec.limits());
        machines.put(id, machine);
        var options = launchOptions.of(spec, image, directory, slot);
        if (config.runtime() == OciRuntime.NATIVE) {
            // Starts to listen while the launcher works; a faster guest retries.
            machine.awaitGuest(launcher.start(options, spec.secret(), directory.log()));
        } else {
            machine.listen();
            cgroups.anticipateMove();
            bundle(spec, slot).write(directory);
            startByRuntime(options, directory);
        }
        reporter.ifPresent(some -> directory.pid().ifPresent(init -> some.watch(id, init)));
        return machine;
    }

    private void startByRuntime(List<String> options, RunDirectory directory) throws IOException {
        var command = new ArrayList<>(List.of(config.programs().launcher().toString(), "launch"));
        command.addAll(options);
        int status = HostTool.start(command, config.runtime().environment(), directory.log());
        if (status != 0) {
            throw FileOperation.START.failed(directory.lastOutputLine());
        }
    }

    private Bundle bundle(MachineSpec spec, int slot) {
        var group = cgroups.path(spec.id());
        return new Bundle(place.stage(), spec, UidSlots.base(slot), group, cgroups.limitsSwap(), config.runtime());
    }

    @Override
    public Optional<Machine> adopt(SandboxId id, Duration timeout) {
        var directory = place.directory(id);
        if (!Polling.until(timeout, () -> !isLaunching(directory)) || !directory.isAlive()) {
            return Optional.empty();
        }
        if (directory.isOnDeletedDisk()) {
            // Everything that the machine writes would be lost with it.
            LOG.warn("The disk of sandbox {} was deleted while its machine ran; the machine is removed", id);
            return Optional.empty();
        }
        reporter.ifPresent(some -> directory.pid().ifPresent(init -> some.adopt(id, init)));
        return Optional.of(machines.computeIfAbsent(id, key -> new OciMachine(directory, cgroups.of(key), null)));
    }

    @Override
    public Set<SandboxId> survivors() {
        try {
            var ids = new HashSet<>(RunDirectory.list(place.run()));
            ids.addAll(cgroups.survivors());
            ids.addAll(disks.survivors());
            return ids;
        } catch (IOException e) {
            throw FileOperation.FIND.failed(e);
        }
    }

    @Override
    public void remove(SandboxId id, Disk disk) {
        var directory = place.directory(id);
        var machine = machines.remove(id);
        reporter.ifPresent(some -> some.forget(id));
        if (machine != null) {
            machine.close();
        }
        try {
            // A launch in progress would create again what is removed here.
            require("end the launch", () -> !isLaunching(directory) || cut(directory.id()));
            kill(directory);
            require("wait for the processes", cgroups.of(id)::isEmpty);
            require("remove the cgroup", cgroups.of(id)::remove);
            require("detach the disk", () -> !directory.holdsLoop());
            var slot = directory.slot();
            FileTrees.delete(directory.path());
            slot.ifPresent(number -> slots.release((int) number));
            disks.finish(id, disk);
            if (disk == Disk.ERASE) {
                inventory.deleteLabel(id);
            }
        } catch (IOException e) {
            throw FileOperation.REMOVE.failed(e);
        }
    }

    /// Kills init and with it all processes of its namespace. The cgroup contains the processes of a partly started
    /// machine without init.
    private void kill(RunDirectory directory) {
        if (directory.isAlive()) {
            HostProcess.kill(directory.pid().orElseThrow());
        }
        cgroups.of(directory.id()).kill();
    }

    /// Kills a launch, which can be frozen together with its machine. Always returns false: only the lock shows the
    /// end of the launch.
    private boolean cut(SandboxId id) {
        cgroups.of(id).kill();
        return false;
    }

    private static void require(String step, BooleanSupplier holds) {
        if (!Polling.until(DEATH_TIMEOUT, holds)) {
            throw new SandboxException(
                    new Failure.ProviderFailed(step, "it took longer than " + DEATH_TIMEOUT.toSeconds() + " s"));
        }
    }

    @Override
    public Map<SandboxId, Long> diskUsage() {
        return FileOperation.FIND.get(disks::usage);
    }

    @Override
    public void requireSnapshots() {
        if (!config.runtime().sharesTheKernel()) {
            throw new SandboxException(new Failure.Unsupported(
                    "a snapshot", "gVisor keeps written data in its own memory; use another runtime"));
        }
    }

    @Override
    public long snapshot(SandboxId id, SnapshotId snapshot) {
        requireSnapshots();
        try {
            flush(place.directory(id));
            return snapshots.save(id, snapshot);
        } catch (IOException e) {
            throw FileOperation.TAKE_SNAPSHOT.failed(e);
        }
    }

    /// Flushes the cached data of the disk of a machine. Its processes are frozen, so nothing is written
    /// afterwards. After the death of a machine the kernel flushes the data when it unmounts the disk, which
    /// happens later.
    private void flush(RunDirectory directory) throws IOException {
        if (directory.isAlive()) {
            var workspace = "/proc/" + directory.pid().orElseThrow() + "/root" + Layout.WORKSPACE;
            HostTool.run("flush the disk", List.of("sync", "--file-system", workspace));
        } else {
            detach(directory);
        }
    }

    /// Waits until the kernel has unmounted the disk of a machine whose init is dead.
    private void detach(RunDirectory directory) {
        cgroups.of(directory.id()).kill();
        require("wait for the processes", cgroups.of(directory.id())::isEmpty);
        require("detach the disk", () -> !directory.holdsLoop());
    }

    @Override
    public void restore(SandboxId id, SnapshotId snapshot) {
        if (place.directory(id).isAlive()) {
            throw FileOperation.RESTORE_SNAPSHOT.failed(id + " runs");
        }
        FileOperation.RESTORE_SNAPSHOT.run(() -> snapshots.restore(id, snapshot));
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

    /// The launcher holds a lock on the directory of the machine until the runtime, which it executes, is done.
    private static boolean isLaunching(RunDirectory directory) {
        if (!Files.exists(directory.lock())) {
            return false;
        }
        try (var channel = FileChannel.open(directory.lock(), StandardOpenOption.WRITE);
                var lock = channel.tryLock()) {
            return lock == null;
        } catch (OverlappingFileLockException e) {
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /// Releases the watcher, which continues as long as machines run.
    private void releaseWatcher() {
        if (FileOperation.FIND.get(() -> RunDirectory.list(place.run())).isEmpty()) {
            watcher.end();
        } else {
            watcher.release();
        }
    }

    @Override
    public void close() {
        fairness.close();
        reporter.ifPresent(ProcessReporter::close);
        machines.values().forEach(OciMachine::close);
        machines.clear();
        launcher.close();
        releaseWatcher();
        disks.close();
        slots.close();
        cgroups.close();
        place.removeIfBare();
    }
}
