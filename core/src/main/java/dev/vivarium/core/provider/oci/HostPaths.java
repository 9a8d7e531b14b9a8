package dev.vivarium.core.provider.oci;

import dev.vivarium.core.Digests;
import dev.vivarium.core.provider.FileTrees;
import dev.vivarium.core.provider.GuestListener;
import dev.vivarium.model.SandboxId;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Collections;
import java.util.List;
import java.util.Set;

/// Paths of the provider on the host. Immutable.
///
/// @param hash replaces the path of the home where the path is too long or must not be shown
/// @param run  contains a directory for each machine; only root can enter it
record HostPaths(String hash, Path run) {
    private static final String NAME = "vivarium";
    private static final Path SHARED = Path.of("/run", NAME);
    private static final int HASH_DIGITS = 12;
    /// Length of the socket path of a machine below `run`.
    private static final int SOCKET_LENGTH = "/sbx/wire/s.new".length() + 20;

    static HostPaths of(Path home) throws IOException {
        var hash = Digests.sha256(home.toString()).substring(0, HASH_DIGITS);
        var run = home.resolve("run");
        if (run.toString().getBytes(StandardCharsets.UTF_8).length + SOCKET_LENGTH > GuestListener.LONGEST_PATH) {
            run = SHARED.resolve(hash);
        }
        FileTrees.make(SHARED, "rwxr-xr-x");
        FileTrees.make(SHARED.resolve("stage"), "rwxr-xr-x");
        FileTrees.make(SHARED.resolve("blocks"), "rwx------");
        if (run.startsWith(home)) {
            Files.createDirectories(home);
            keepInMemory(run, hash);
        }
        return new HostPaths(hash, FileTrees.make(run, "rwx------"));
    }

    /// Makes `run` a link to a directory in memory, if possible. Its content need not survive a reboot. A file
    /// system on disk takes most of a millisecond for each of the twenty files of a machine after many creations
    /// and deletions.
    private static void keepInMemory(Path run, String hash) throws IOException {
        if (Files.isSymbolicLink(run)) {
            FileTrees.make(Files.readSymbolicLink(run), "rwx------");
        } else if (!Files.exists(run) && mapsUsersInMemory()) {
            for (var base : List.of(Path.of("/run"), Path.of("/dev/shm"))) {
                if (isUsable(base)) {
                    var memory = base.resolve(NAME).resolve(hash);
                    Files.createSymbolicLink(run, FileTrees.make(memory, "rwx------"));
                    return;
                }
            }
        }
    }

    /// Memory file systems support idmapped mounts since Linux 6.3.
    private static boolean mapsUsersInMemory() {
        var version = System.getProperty("os.version").split("[^0-9]+");
        int major = Integer.parseInt(version[0]);
        return major > 6 || (major == 6 && version.length > 1 && Integer.parseInt(version[1]) >= 3);
    }

    /// Every user can create files in `/dev/shm`, so an existing directory must belong to root.
    private static boolean isUsable(Path base) throws IOException {
        if (!Files.isDirectory(base) || !Files.getFileStore(base).type().equals("tmpfs")) {
            return false;
        }
        var directory = base.resolve(NAME);
        if (!Files.exists(directory, LinkOption.NOFOLLOW_LINKS)) {
            FileTrees.make(directory, "rwxr-xr-x");
        }
        var attributes = Files.readAttributes(directory, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        return attributes.isDirectory()
                && attributes.owner().getName().equals("root")
                && Collections.disjoint(
                        attributes.permissions(),
                        Set.of(PosixFilePermission.GROUP_WRITE, PosixFilePermission.OTHERS_WRITE));
    }

    /// Removes the memory directory of [#of], if it contains no machine.
    void removeIfBare() {
        try {
            if (Files.isSymbolicLink(run)) {
                Files.deleteIfExists(Files.readSymbolicLink(run));
                Files.deleteIfExists(run);
            }
        } catch (IOException e) {
            // It contains a running machine.
        }
    }

    /// Directory over which every launch mounts the directory of its machine, in its own mount namespace.
    Path stage() {
        return SHARED.resolve("stage");
    }

    Path blocks() {
        return SHARED.resolve("blocks");
    }

    RunDirectory directory(SandboxId id) {
        return RunDirectory.of(run, id);
    }
}
