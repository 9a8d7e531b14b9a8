package dev.vivarium.core.provider.oci;

import dev.vivarium.core.StoreId;
import dev.vivarium.core.provider.FileTrees;
import dev.vivarium.core.provider.HostTool;
import dev.vivarium.core.provider.Provider.Disk;
import dev.vivarium.model.SandboxId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// Disks of machines: for each, a sparse ext4 image of fixed size, or a directory without a limit if the host has no
/// loop devices. Images are copied from a template, which is created once for each size. Thread-safe.
final class Disks implements AutoCloseable {
    static final String SUFFIX = ".ext4";
    /// The default is smaller for small disks, but a loop device on a file with shared blocks has sectors of this
    /// size.
    private static final String BLOCK_BYTES = "4096";

    private static final int WORKSPACE_USER = 1000;

    private final Path directory;
    private final Optional<Path> mkfs;
    private final ReflinkVolume annex;

    private Disks(Path directory, Optional<Path> mkfs, ReflinkVolume annex) {
        this.directory = directory;
        this.mkfs = mkfs;
        this.annex = annex;
    }

    static Disks open(Path directory) throws IOException {
        FileTrees.make(directory, "rwx------");
        FileTrees.make(directory.resolve(".templates"), "rwx------");
        var mkfs = OciConfig.find("mkfs.ext4").filter(program -> Files.isWritable(Path.of("/dev/loop-control")));
        return new Disks(
                directory, mkfs, new ReflinkVolume(directory.resolve("annex.xfs"), directory.resolve(".annex")));
    }

    /// How the limit is enforced, in one word.
    String limit() {
        return mkfs.isPresent() ? "loop-ext4" : "none";
    }

    DiskSnapshots snapshots() {
        return new DiskSnapshots(directory, annex, this);
    }

    boolean exists(SandboxId id) throws IOException {
        return Files.exists(image(id)) || Files.exists(plain(id));
    }

    /// Path of the image of the machine, whether it exists or not. An image from a snapshot can be in the annex and
    /// then has precedence.
    Path image(SandboxId id) throws IOException {
        return annex.find()
                .map(root -> root.resolve(id + SUFFIX))
                .filter(Files::exists)
                .orElse(directory.resolve(id + SUFFIX));
    }

    Path plain(SandboxId id) {
        return directory.resolve(id.value());
    }

    /// Options of the launcher for the disk of the machine. Creates or repairs the disk if needed.
    List<String> attach(SandboxId id, long bytes, StoreId store) throws IOException {
        if (Files.exists(plain(id)) || (mkfs.isEmpty() && !Files.exists(image(id)))) {
            return List.of("--disk-directory", createDirectories(plain(id)).toString());
        }
        var image = image(id);
        if (Files.exists(image)) {
            new Ext4Image(image).repair();
        }
        return List.of(
                "--disk-image",
                image.toString(),
                template(bytes, Optional.of(store)).toString());
    }

    Set<SandboxId> survivors() throws IOException {
        var ids = new HashSet<SandboxId>();
        for (var place : places()) {
            ids.addAll(FileTrees.ids(place, SandboxId::isWellFormed, SandboxId::new));
        }
        return ids;
    }

    /// Bytes that each image occupies in the file system of the host.
    Map<SandboxId, Long> usage() throws IOException {
        var usage = new HashMap<SandboxId, Long>();
        for (var place : places()) {
            try (var images = Files.newDirectoryStream(place, "*" + SUFFIX)) {
                for (var image : images) {
                    var name = image.getFileName().toString();
                    RunDirectory.idOf(name.substring(0, name.length() - SUFFIX.length()))
                            .ifPresent(id -> usage.merge(id, AllocatedBytes.of(image), Long::sum));
                }
            }
        }
        return usage;
    }

    /// Directories of disks: in the home, and in the annex if there is one.
    List<Path> directories() throws IOException {
        return annex.find().map(root -> List.of(directory, root)).orElse(List.of(directory));
    }

    private List<Path> places() throws IOException {
        return annex.find().map(root -> List.of(root, directory)).orElse(List.of(directory));
    }

    void finish(SandboxId id, Disk disk) throws IOException {
        for (var place : places()) {
            Files.deleteIfExists(FileTrees.unfinished(place.resolve(id + SUFFIX)));
        }
        FileTrees.delete(FileTrees.unfinished(plain(id)));
        if (disk == Disk.ERASE) {
            keepOnly(id, directory);
        }
    }

    /// Deletes every disk of `id` except `kept`.
    void keepOnly(SandboxId id, Path kept) throws IOException {
        for (var place : places()) {
            var image = place.resolve(id + SUFFIX);
            if (!image.equals(kept)) {
                Files.deleteIfExists(image);
            }
        }
        if (!plain(id).equals(kept)) {
            FileTrees.delete(plain(id));
        }
    }

    /// Reports whether new disks contain the id of their store.
    boolean containStoreId() {
        return mkfs.isPresent();
    }

    /// Bytes in use on an empty disk of the size of `image`.
    long emptyBytes(Ext4Image image) throws IOException {
        return mkfs.isPresent() ? new Ext4Image(template(image.bytes(), image.store())).usedBytes() : 0;
    }

    /// Releases the resources of this object; machines keep their disks.
    @Override
    public void close() {
        annex.close();
    }

    /// Template for each store, with the id of the store as volume label. Disks of an older version have no label.
    private Path template(long bytes, Optional<StoreId> store) throws IOException {
        var name = bytes + "-" + BLOCK_BYTES + store.map(id -> "-" + id).orElse("") + SUFFIX;
        var template = directory.resolve(".templates").resolve(name);
        if (Files.exists(template)) {
            return template;
        }
        var workbench = Files.createTempDirectory(directory.resolve(".templates"), "new-");
        try {
            var image = workbench.resolve("image");
            HostTool.run("make a disk", mkfsCommand(createDirectories(workbench.resolve("content")), image, bytes));
            if (store.isPresent()) {
                new Ext4Image(image).writeStore(store.get());
            }
            Files.move(image, template, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } finally {
            FileTrees.delete(workbench);
        }
        return template;
    }

    /// No journal: it costs each machine a kernel thread and megabytes, and after a crash of the host,
    /// [Ext4Image#repair] replaces it. No zeroing: a new sparse file contains zeros.
    private List<String> mkfsCommand(Path content, Path image, long bytes) {
        return List.of(
                mkfs.orElseThrow().toString(),
                "-q",
                "-F",
                "-O",
                "^has_journal,^resize_inode,^metadata_csum,uninit_bg",
                "-b",
                BLOCK_BYTES,
                "-m",
                "0",
                "-I",
                "256",
                "-i",
                "16384",
                "-E",
                "lazy_itable_init=1,nodiscard",
                "-d",
                content.toString(),
                image.toString(),
                bytes / 1024 + "k");
    }

    /// A disk contains the two directories of the overlay, which only the kernel uses, and the workspace. Owners
    /// are those inside the machine, because its user range is mapped.
    private static Path createDirectories(Path disk) throws IOException {
        FileTrees.make(disk, "rwx--x--x");
        FileTrees.make(disk.resolve("upper"), "rwxr-xr-x");
        FileTrees.make(disk.resolve("work"), "rwx------");
        var workspace = disk.resolve("workspace");
        if (!Files.exists(workspace)) {
            FileTrees.make(workspace, "rwxr-xr-x");
            Files.setAttribute(workspace, "unix:uid", WORKSPACE_USER);
            Files.setAttribute(workspace, "unix:gid", WORKSPACE_USER);
        }
        return disk;
    }
}
