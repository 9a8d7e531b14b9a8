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

/// The disks, machines and snapshots of a home, as their own files describe them. It answers whose they are when the
/// store cannot, and keeps those without a row in `orphans/`. Thread-safe; one caller at a time for each id.
public final class Inventory {
    /// In a machine's directory: the id of its store.
    private static final String STORE = "store";

    /// In a machine's directory, from its start on a new disk until it is handed out.
    private static final String UNUSED = "unused";

    private static final List<String> DISK_SUFFIXES = List.of(".ext4", "");

    private final Places places;
    private final Orphans orphans;

    /// Where a provider keeps its files.
    public interface Places {
        /// The directories of disks, that of the home first.
        List<Path> disks() throws IOException;

        /// The directories of snapshots, that of the home first.
        List<Path> snapshots() throws IOException;

        /// The directory of a machine.
        Path machine(SandboxId id);

        /// The directory for orphans in the file system of `directory`, one of those above.
        Path orphansOf(Path directory);

        /// The id that a disk or snapshot carries in itself.
        Optional<StoreId> storeOf(Path disk) throws IOException;

        /// Writes the id into a disk that no machine uses, or into a snapshot. Does nothing if it has no room
        /// for it.
        void writeStore(Path disk, StoreId store) throws IOException;
    }

    /// @param orphans a directory of the home, made when it is needed
    public Inventory(Path orphans, Places places) {
        this.places = places;
        this.orphans = new Orphans(orphans);
    }

    /// Records in the directory of a machine that is being started which store it belongs to, its graces, and
    /// whether its disk is new.
    public void recordMachine(MachineSpec spec, boolean isNew) throws IOException {
        var machine = places.machine(spec.id());
        Files.writeString(machine.resolve(STORE), spec.store().value());
        OrphanWatcher.writeGrace(machine, spec.grace().used());
        if (isNew) {
            long seconds = MachineSpec.seconds(spec.grace().first());
            Files.writeString(machine.resolve(UNUSED), Long.toString(seconds), StandardOpenOption.CREATE_NEW);
        }
    }

    /// Records that a machine is about to be handed out: its disk may hold data from now on, and the orphan watcher
    /// gives it the grace of a used machine.
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
        var label = Label.read(label(id, directories));
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
            return Optional.empty(); // An older version started it, or it is gone.
        }
    }

    private static Optional<Path> find(String id, List<Path> directories) {
        return directories.stream()
                .flatMap(directory -> DISK_SUFFIXES.stream().map(suffix -> directory.resolve(id + suffix)))
                .filter(Files::exists)
                .findFirst();
    }

    /// Writes the label of a disk, and the store's id into the disk itself if no machine uses it.
    public void label(SandboxId id, Label label) {
        FileOperation.RECORD.run(() -> {
            label(id.value(), places.disks(), label, !Files.exists(places.machine(id)));
        });
    }

    public void label(SnapshotId id, Label label) {
        FileOperation.RECORD.run(() -> label(id.value(), places.snapshots(), label, true));
    }

    private void label(String id, List<Path> directories, Label label, boolean isStill) throws IOException {
        var disk = find(id, directories);
        if (isStill && disk.isPresent()) {
            places.writeStore(disk.get(), label.store());
        }
        // With an annex, the home may have labels of snapshots only.
        if (!Files.exists(directories.getFirst())) {
            FileTrees.make(directories.getFirst(), "rwx------");
        }
        label.write(label(id, directories));
    }

    private static Path label(String id, List<Path> directories) {
        return directories.getFirst().resolve(id + Label.SUFFIX);
    }

    /// Deletes the label of a disk that is gone.
    public void deleteLabel(SandboxId id) {
        FileOperation.RECORD.run(() -> Label.delete(label(id.value(), places.disks())));
    }

    /// Deletes the label of a snapshot that is gone.
    public void deleteLabel(SnapshotId id) {
        FileOperation.RECORD.run(() -> Label.delete(label(id.value(), places.snapshots())));
    }

    /// Moves the disk of a machine that does not run to `orphans/`.
    public void setAside(SandboxId id, Instant now) {
        FileOperation.SET_ASIDE.run(() -> orphans.add(id.value(), shelves(places.disks()), now));
    }

    public void setAside(SnapshotId id, Instant now) {
        FileOperation.SET_ASIDE.run(() -> orphans.add(id.value(), shelves(places.snapshots()), now));
    }

    /// Moves a disk back from `orphans/`.
    public void takeBack(SandboxId id) {
        FileOperation.SET_ASIDE.run(() -> orphans.takeBack(id.value(), shelves(places.disks())));
    }

    public void takeBack(SnapshotId id) {
        FileOperation.SET_ASIDE.run(() -> orphans.takeBack(id.value(), shelves(places.snapshots())));
    }

    /// The labels of all disks in `orphans/`.
    public Map<SandboxId, Optional<Label>> orphanDisks() {
        return FileOperation.SET_ASIDE.get(() -> {
            var found = new HashMap<SandboxId, Optional<Label>>();
            for (var id : orphans.all()) {
                if (SandboxId.isWellFormed(id)) {
                    found.put(new SandboxId(id), Label.read(orphans.label(id)));
                }
            }
            return found;
        });
    }

    /// The labels of all snapshots in `orphans/`.
    public Map<SnapshotId, Optional<Label>> orphanSnapshots() {
        return FileOperation.SET_ASIDE.get(() -> {
            var found = new HashMap<SnapshotId, Optional<Label>>();
            for (var id : orphans.all()) {
                if (SnapshotId.isWellFormed(id)) {
                    found.put(new SnapshotId(id), Label.read(orphans.label(id)));
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
                    orphans.delete(id, shelves(places.disks()));
                    deleted.add(id);
                }
            }
            return deleted;
        });
    }

    private List<Orphans.Shelf> shelves(List<Path> directories) {
        return directories.stream()
                .map(directory -> new Orphans.Shelf(directory, places.orphansOf(directory)))
                .toList();
    }
}
