package dev.vivarium.core.provider.oci;

import dev.vivarium.core.provider.FileTrees;
import dev.vivarium.core.provider.Provider.Disk;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/// Where machines keep what they write: for each a sparse ext4 image of fixed size, or a directory without a limit
/// where the host has no loop devices. Images are copied from a template, made once for each size. Thread-safe.
final class Disks {
    private static final String SUFFIX = ".ext4";
    private static final int WORKSPACE_USER = 1000;
    private static final int SUPERBLOCK_STATE = 1024 + 58;
    private static final int CLEAN = 1;

    private final Path directory;
    private final Optional<Path> mkfs;

    private Disks(Path directory, Optional<Path> mkfs) {
        this.directory = directory;
        this.mkfs = mkfs;
    }

    static Disks open(Path directory) throws IOException {
        FileTrees.make(directory, "rwx------");
        FileTrees.make(directory.resolve(".templates"), "rwx------");
        var mkfs = OciConfig.find("mkfs.ext4").filter(program -> Files.isWritable(Path.of("/dev/loop-control")));
        return new Disks(directory, mkfs);
    }

    /// How the limit is kept, in a word.
    String limit() {
        return mkfs.isPresent() ? "loop-ext4" : "none";
    }

    boolean exists(SandboxId id) {
        return Files.exists(image(id)) || Files.exists(plain(id));
    }

    Path image(SandboxId id) {
        return directory.resolve(id + SUFFIX);
    }

    private Path plain(SandboxId id) {
        return directory.resolve(id.value());
    }

    /// The launcher's options for the machine's disk, which is made, or repaired, if need be.
    List<String> attach(SandboxId id, long bytes) throws IOException {
        if (Files.exists(plain(id)) || (mkfs.isEmpty() && !Files.exists(image(id)))) {
            return List.of("--disk-directory", layOut(plain(id)).toString());
        }
        var image = image(id);
        if (Files.exists(image)) {
            repair(image);
        }
        return List.of("--disk-image", image.toString(), template(bytes).toString());
    }

    Set<SandboxId> survivors() throws IOException {
        var ids = new HashSet<SandboxId>();
        try (var entries = Files.newDirectoryStream(directory)) {
            for (var entry : entries) {
                var name = entry.getFileName().toString();
                int dot = name.indexOf('.');
                RunDirectory.idOf(dot < 0 ? name : name.substring(0, dot)).ifPresent(ids::add);
            }
        }
        return ids;
    }

    void finish(SandboxId id, Disk disk) throws IOException {
        Files.deleteIfExists(directory.resolve(id + SUFFIX + ".new"));
        if (disk == Disk.ERASE) {
            Files.deleteIfExists(image(id));
            FileTrees.delete(plain(id));
        }
    }

    private Path template(long bytes) throws IOException {
        var template = directory.resolve(".templates").resolve(bytes + SUFFIX);
        if (Files.exists(template)) {
            return template;
        }
        var workbench = Files.createTempDirectory(directory.resolve(".templates"), "new-");
        try {
            var image = workbench.resolve("image");
            Command.run("make a disk", mkfsCommand(layOut(workbench.resolve("content")), image, bytes));
            Files.move(image, template, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } finally {
            FileTrees.delete(workbench);
        }
        return template;
    }

    /// No journal: it would cost each machine a kernel worker and megabytes, and [#repair] does after a crash of
    /// the host what it would have done. Nothing is zeroed: a new sparse file is.
    private List<String> mkfsCommand(Path content, Path image, long bytes) {
        return List.of(
                mkfs.orElseThrow().toString(),
                "-q",
                "-F",
                "-O",
                "^has_journal,^resize_inode,^metadata_csum,uninit_bg",
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

    /// A disk holds the overlay's two directories, which only the kernel uses, and the workspace. Owners are those
    /// that the machine sees: its user range is mapped on.
    private static Path layOut(Path disk) throws IOException {
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

    /// An image that was not unmounted, since the host went down, is checked before it is used again.
    private static void repair(Path image) throws IOException {
        if (isClean(image)) {
            return;
        }
        var fsck = OciConfig.find("e2fsck")
                .orElseThrow(() -> new SandboxException(
                        new Failure.ProviderFailed("repair a disk", "e2fsck is not installed; install e2fsprogs")));
        // 1: errors were found and corrected.
        Command.run("repair a disk", List.of(fsck.toString(), "-f", "-y", image.toString()), 0, 1);
    }

    private static boolean isClean(Path image) throws IOException {
        var state = ByteBuffer.allocate(2).order(ByteOrder.LITTLE_ENDIAN);
        try (var channel = FileChannel.open(image)) {
            channel.read(state, SUPERBLOCK_STATE);
        }
        return (state.getShort(0) & CLEAN) != 0;
    }
}
