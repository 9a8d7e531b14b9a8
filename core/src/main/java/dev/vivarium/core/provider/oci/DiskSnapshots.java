package dev.vivarium.core.provider.oci;

import dev.vivarium.core.provider.FileTrees;
import dev.vivarium.core.provider.HostTool;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SnapshotId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Snapshots of disks. They share blocks with the disk and with each other if the file system supports that. Otherwise,
/// a disk is copied once into a [ReflinkVolume], in which all later copies share blocks. Without such a volume,
/// snapshots are plain copies. Thread-safe.
final class DiskSnapshots {
    private static final Logger LOG = LoggerFactory.getLogger(DiskSnapshots.class);
    static final String DIRECTORY = ".snapshots";

    private final Path home;
    private final ReflinkVolume annex;
    private final Disks disks;
    private volatile @Nullable Sharing sharing;

    /// File system that can share blocks.
    private enum Sharing {
        AT_HOME,
        IN_THE_ANNEX,
        NOWHERE
    }

    DiskSnapshots(Path home, ReflinkVolume annex, Disks disks) {
        this.home = home;
        this.annex = annex;
        this.disks = disks;
    }

    /// How snapshots are stored, in one word.
    String how() {
        try {
            return sharing() == Sharing.NOWHERE ? "copy" : "reflink";
        } catch (IOException e) {
            return "copy";
        }
    }

    /// Saves a disk without writers. Returns the size of its files in bytes.
    long save(SandboxId id, SnapshotId snapshot) throws IOException {
        if (!disks.exists(id)) {
            throw new SandboxException(new Failure.ProviderFailed("take a snapshot", id + " has no disk"));
        }
        var image = disks.image(id);
        return Files.exists(image) ? saveImage(image, snapshot) : saveTree(disks.plain(id), snapshot);
    }

    private long saveImage(Path image, SnapshotId snapshot) throws IOException {
        var directory = FileTrees.make(shareWith(image).resolve(DIRECTORY), "rwx------");
        var target = directory.resolve(snapshot + Disks.SUFFIX);
        var unfinished = FileTrees.unfinished(target);
        try {
            copy(image, unfinished);
            var copy = new Ext4Image(unfinished);
            // It was copied while mounted. After the repair, each disk that is created from it is ready at once.
            copy.repair();
            long used = copy.usedBytes() - disks.emptyBytes(copy);
            Files.move(unfinished, target, StandardCopyOption.ATOMIC_MOVE);
            return Math.max(0, used);
        } finally {
            Files.deleteIfExists(unfinished);
        }
    }

    private long saveTree(Path disk, SnapshotId snapshot) throws IOException {
        var directory = FileTrees.make(home.resolve(DIRECTORY), "rwx------");
        var tree = directory.resolve(snapshot.value());
        FileTrees.replace(disk, tree);
        return FileTrees.size(tree.resolve("workspace"));
    }

    /// Directory in which a copy of `image` shares blocks with it, or at least with its other copies.
    private Path shareWith(Path image) throws IOException {
        if (!image.startsWith(home)) {
            return annex.require();
        }
        if (sharing() != Sharing.IN_THE_ANNEX) {
            return home;
        }
        try {
            return annex.require();
        } catch (IOException | SandboxException e) {
            LOG.warn("no annex for snapshots, so they are plain copies: {}", e.getMessage());
            sharing = Sharing.NOWHERE;
            return home;
        }
    }

    private Sharing sharing() throws IOException {
        var known = sharing;
        if (known == null) {
            known = canShare(home)
                    ? Sharing.AT_HOME
                    : ReflinkVolume.isPossible() ? Sharing.IN_THE_ANNEX : Sharing.NOWHERE;
            sharing = known;
        }
        return known;
    }

    private static boolean canShare(Path directory) throws IOException {
        var one = Files.createTempFile(directory, ".shared-", "");
        var two = one.resolveSibling(one.getFileName() + "-too");
        try {
            Files.writeString(one, "shared");
            var command = List.of("cp", "--reflink=always", "--", one.toString(), two.toString());
            return HostTool.succeeds(command);
        } finally {
            Files.deleteIfExists(one);
            Files.deleteIfExists(two);
        }
    }

    /// Replaces the disk of `id` with a copy of the snapshot, atomically. If the old disk is in another file
    /// system, both exist, and [Disks#image] selects the new one.
    void restore(SandboxId id, SnapshotId snapshot) throws IOException {
        for (var place : places()) {
            var image = place.resolve(DIRECTORY).resolve(snapshot + Disks.SUFFIX);
            if (Files.exists(image)) {
                restoreImage(id, image, place);
                return;
            }
            var tree = place.resolve(DIRECTORY).resolve(snapshot.value());
            if (Files.exists(tree)) {
                restoreTree(id, tree);
                return;
            }
        }
        throw new SandboxException(new Failure.ProviderFailed("restore a snapshot", snapshot + " is not here"));
    }

    private void restoreImage(SandboxId id, Path image, Path place) throws IOException {
        var target = place.resolve(id + Disks.SUFFIX);
        var unfinished = FileTrees.unfinished(target);
        try {
            copy(image, unfinished);
            Files.move(unfinished, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            disks.keepOnly(id, target);
        } finally {
            Files.deleteIfExists(unfinished);
        }
    }

    private void restoreTree(SandboxId id, Path tree) throws IOException {
        FileTrees.replace(tree, disks.plain(id));
        disks.keepOnly(id, disks.plain(id));
    }

    /// Copies with holes, and shares the blocks if possible.
    private static void copy(Path image, Path target) throws IOException {
        Files.deleteIfExists(target);
        HostTool.run("copy a disk", List.of("cp", "--reflink=auto", "--", image.toString(), target.toString()));
    }

    void delete(SnapshotId snapshot) throws IOException {
        for (var place : places()) {
            var directory = place.resolve(DIRECTORY);
            for (var name : List.of(snapshot + Disks.SUFFIX, snapshot.value())) {
                FileTrees.delete(directory.resolve(name));
                FileTrees.delete(FileTrees.unfinished(directory.resolve(name)));
            }
        }
    }

    Set<SnapshotId> all() throws IOException {
        var ids = new HashSet<SnapshotId>();
        for (var place : places()) {
            var directory = place.resolve(DIRECTORY);
            if (Files.isDirectory(directory)) {
                ids.addAll(FileTrees.ids(directory, SnapshotId::isWellFormed, SnapshotId::new));
            }
        }
        return ids;
    }

    /// Directories of snapshots: in the home, and in the annex if there is one.
    List<Path> directories() throws IOException {
        return disks.directories().stream()
                .map(place -> place.resolve(DIRECTORY))
                .toList();
    }

    private List<Path> places() throws IOException {
        return annex.find().map(root -> List.of(root, home)).orElse(List.of(home));
    }
}
