package dev.vivarium.core.provider;

import dev.vivarium.core.StoreId;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SnapshotId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;

/// Inventory of the disks, machines and snapshots of a home. It reads files beside them, so it finds their store and
/// owner without the database. Disks and snapshots without a row in the store move to `orphans/`. Thread-safe, but each
/// id must have only one caller at a time.
public final class Inventory {
    /// File in the directory of a machine with the id of its store.
    private static final String STORE = "store";

    /// File in the directory of a machine that started on a new disk and was not handed out yet. Contains the
    /// grace.
    private static final String UNUSED = "unused";

    private static final List<String> DISK_SUFFIXES = List.of(".ext4", "");

    private final Places places;
    private final Orphans orphans;

    /// Directories of a provider.
    public interface Places {
        /// The directories of disks, that of the home first.
        List<Path> disks() throws IOException;

        /// The directories of snapshots, that of the home first.
        List<Path> snapshots() throws IOException;

        /// The directory of a machine.
        Path machine(SandboxId id);

        /// Directory for orphans in the file system of `directory`, one of those above.
        Path orphansOf(Path directory);

        /// The id that a disk or snapshot contains.
        Optional<StoreId> storeOf(Path disk) throws IOException;

        /// Writes the id into a disk that no machine uses, or into a snapshot. Does nothing if there is no
        /// space for it.
        void writeStore(Path disk, StoreId store) throws IOException;
    }

    /// @param orphans a directory of the home, created on demand
    public Inventory(Path orphans, Places places) {
        this.places = places;
        this.orphans = new Orphans(orphans);
    }

    /// Writes the store of a machine, its graces, and whether its disk is new, to the directory of the machine.
    /// Call it before the start of the machine.
    public void recordMachine(MachineSpec spec, boolean isNew) throws IOException {
        var machine = places.machine(spec.id());
        Files.writeString(machine.resolve(STORE), spec.store().value());
        OrphanWatcher.writeGrace(machine, spec.grace().used());
        if (isNew) {
            long seconds = MachineSpec.seconds(spec.grace().first());
            Files.writeString(machine.resolve(UNUSED), Long.toString(seconds), StandardOpenOption.CREATE_NEW);
        }
    }

    /// Records that a machine is about to be handed out. From now on, its disk may contain data, and the orphan
    /// watcher uses the grace of a used machine.
    public void recordUse(SandboxId id) {
        FileOperation.RECORD.run(() -> Files.deleteIfExists(places.machine(id).resolve(UNUSED)));
    }

    public InventoryRecord trace(SandboxId id) {
        return FileOperation.FIND.get(() -> {
            var machine = places.machine(id);
            var found = trace(id.value(), places.disks());
            return new InventoryRecord(
                    found.hasDisk(),
                    Files.exists(machine),
                    Files.exists(machine.resolve(UNUSED)),
                    found.store().or(() -> storeOfMachine(machine)),
                    found.label());
        });
    }

    public InventoryRecord trace(SnapshotId id) {
        return FileOperation.FIND_SNAPSHOTS.get(() -> trace(id.value(), places.snapshots()));
    }

    private InventoryRecord trace(String id, List<Path> directories) throws IOException {
        var disk = find(id, directories);
        var label = Label.read(labelPath(id, directories));
        var store = label.map(Label::store);
        if (store.isEmpty() && disk.isPresent()) {
            store = places.storeOf(disk.get());
        }
        return new InventoryRecord(disk.isPresent(), false, false, store, label);
    }

    private static Optional<StoreId> storeOfMachine(Path machine) {
        try {
            return StoreId.parse(Files.readString(machine.resolve(STORE)));
        } catch (IOException e) {
            return Optional.empty(); // Started by an older version, or gone.
        }
    }

    private static Optional<Path> find(String id, List<Path> directories) {
        return directories.stream()
                .flatMap(directory -> DISK_SUFFIXES.stream().map(suffix -> directory.resolve(id + suffix)))
                .filter(Files::exists)
                .findFirst();
    }

    /// Writes the label of a disk, and the id of the store into the disk if no machine uses it.
    public void label(SandboxId id, Label label) {
        FileOperation.RECORD.run(() -> {
            label(id.value(), places.disks(), label, Files.exists(places.machine(id)));
        });
    }

    public void label(SnapshotId id, Label label) {
        FileOperation.RECORD.run(() -> label(id.value(), places.snapshots(), label, false));
    }

    private void label(String id, List<Path> directories, Label label, boolean isInUse) throws IOException {
        var disk = find(id, directories);
        if (!isInUse && disk.isPresent()) {
            places.writeStore(disk.get(), label.store());
        }
        // If the snapshots are in the annex, this directory of the home has only their labels, and may be absent.
        if (!Files.exists(directories.getFirst())) {
            FileTrees.make(directories.getFirst(), "rwx------");
        }
        label.write(labelPath(id, directories));
    }

    private static Path labelPath(String id, List<Path> directories) {
        return directories.getFirst().resolve(id + Label.SUFFIX);
    }

    /// Deletes the label of a deleted disk.
    public void deleteLabel(SandboxId id) {
        FileOperation.RECORD.run(() -> Label.delete(labelPath(id.value(), places.disks())));
    }

    /// Deletes the label of a deleted snapshot.
    public void deleteLabel(SnapshotId id) {
        FileOperation.RECORD.run(() -> Label.delete(labelPath(id.value(), places.snapshots())));
    }

    /// Moves the disk of a stopped machine to `orphans/`.
    public void setAside(SandboxId id, Instant now) {
        FileOperation.SET_ASIDE.run(() -> orphans.add(id.value(), locations(places.disks()), now));
    }

    public void setAside(SnapshotId id, Instant now) {
        FileOperation.SET_ASIDE.run(() -> orphans.add(id.value(), locations(places.snapshots()), now));
    }

    /// Moves a disk back from `orphans/`.
    public void restoreOrphan(SandboxId id) {
        FileOperation.SET_ASIDE.run(() -> orphans.restoreOrphan(id.value(), locations(places.disks())));
    }

    public void restoreOrphan(SnapshotId id) {
        FileOperation.SET_ASIDE.run(() -> orphans.restoreOrphan(id.value(), locations(places.snapshots())));
    }

    /// The labels of all disks in `orphans/`.
    public Map<SandboxId, Optional<Label>> orphanDisks() {
        return orphans(SandboxId::isWellFormed, SandboxId::new);
    }

    /// The labels of all snapshots in `orphans/`.
    public Map<SnapshotId, Optional<Label>> orphanSnapshots() {
        return orphans(SnapshotId::isWellFormed, SnapshotId::new);
    }

    private <T> Map<T, Optional<Label>> orphans(Predicate<String> isId, Function<String, T> id) {
        return FileOperation.SET_ASIDE.get(() -> {
            var found = new HashMap<T, Optional<Label>>();
            for (var name : orphans.all()) {
                if (isId.test(name)) {
                    found.put(id.apply(name), Label.read(orphans.label(name)));
                }
            }
            return found;
        });
    }

    /// Deletes the orphans that were moved to `orphans/` before `time`. Returns their ids.
    public Set<String> deleteOrphans(Instant time) {
        return FileOperation.SET_ASIDE.get(() -> {
            var deleted = new HashSet<String>();
            for (var id : orphans.all()) {
                if (orphans.isOlder(id, time)) {
                    orphans.delete(id, locations(places.disks()));
                    deleted.add(id);
                }
            }
            return deleted;
        });
    }

    private List<Orphans.Location> locations(List<Path> directories) {
        return directories.stream()
                .map(directory -> new Orphans.Location(directory, places.orphansOf(directory)))
                .toList();
    }
}
