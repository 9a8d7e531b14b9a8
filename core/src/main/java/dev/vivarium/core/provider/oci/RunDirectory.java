package dev.vivarium.core.provider.oci;

import dev.vivarium.core.provider.FileOperation;
import dev.vivarium.core.provider.FileTrees;
import dev.vivarium.core.provider.HostProcess;
import dev.vivarium.model.SandboxId;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashSet;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/// Directory of one machine on the host, with its bundle, its socket and the state for a later server. The launcher
/// mounts it over the stage, so the runtime sees its content. Immutable.
///
/// ```
/// config.json  the bundle          rootfs/ lower/ disk/ guest userns  mount points of the launcher, in its namespace
/// wire/s       the guest's socket  meminfo               content of /proc/meminfo inside
/// state/       state of the runtime
/// slot pid loop lock log           numbers of the user range, init and loop device; lock of the launcher; error output
/// grace                            seconds that the machine continues without a server
/// store unused                     id of the store; present until the machine is handed out (see Inventory)
/// ```
record RunDirectory(Path path, SandboxId id) {
    /// Read-only mount point of the runtime program.
    static final String RUNTIME = "runtime";

    static RunDirectory of(Path run, SandboxId id) {
        return new RunDirectory(run.resolve(id.value()), id);
    }

    /// Every machine in `run`.
    static Set<SandboxId> list(Path run) throws IOException {
        var ids = new HashSet<SandboxId>();
        if (Files.isDirectory(run)) {
            try (var entries = Files.newDirectoryStream(run)) {
                entries.forEach(entry -> idOf(entry.getFileName().toString()).ifPresent(ids::add));
            }
        }
        return ids;
    }

    static Optional<SandboxId> idOf(String name) {
        return SandboxId.isWellFormed(name) ? Optional.of(new SandboxId(name)) : Optional.empty();
    }

    /// Creates the directory for the user range `slot`. Its parent denies access to others; root of the range can
    /// traverse it.
    void make(int slot, OciRuntime runtime) throws IOException {
        FileTrees.make(path, "rwx--x--x");
        FileTrees.writePrivately(path.resolve("slot"), Integer.toString(slot));
        for (var mountPoint : new String[] {"rootfs", "lower", "disk"}) {
            FileTrees.make(path.resolve(mountPoint), "rwxr-xr-x");
        }
        Files.createFile(path.resolve("guest"));
        if (runtime != OciRuntime.NATIVE) {
            FileTrees.make(path.resolve("state"), "rwx------");
            Files.createFile(path.resolve(RUNTIME));
            Files.createFile(path.resolve("userns"));
        }
        // Root of the range can find the socket in it but cannot create files: the host acts as root in this directory.
        var wire = FileTrees.make(path.resolve("wire"), "rwxr-x---");
        Files.setAttribute(wire, "unix:gid", UidSlots.base(slot));
    }

    boolean exists() {
        return Files.exists(path);
    }

    Path socket() {
        return path.resolve("wire").resolve("s");
    }

    Path lock() {
        return path.resolve("lock");
    }

    Path log() {
        return path.resolve("log");
    }

    /// Writes the content of `/proc/meminfo` inside. The file is bind-mounted into the running machine, so it is
    /// overwritten in place. The length is constant, so that a reader never sees a partial text.
    void writeMemInfo(long bytes) throws IOException {
        long kilobytes = bytes / 1024;
        var text = """
                MemTotal:       %12d kB
                MemFree:        %12d kB
                MemAvailable:   %12d kB
                Buffers:        %12d kB
                Cached:         %12d kB
                SwapCached:     %12d kB
                SwapTotal:      %12d kB
                SwapFree:       %12d kB
                Shmem:          %12d kB
                SReclaimable:   %12d kB
                """.formatted(kilobytes, kilobytes, kilobytes, 0, 0, 0, 0, 0, 0, 0);
        try (var channel =
                FileChannel.open(path.resolve("meminfo"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII)), 0);
        }
    }

    OptionalLong slot() {
        return number("slot");
    }

    /// Process id of init, if it was started.
    OptionalLong pid() {
        return number("pid");
    }

    /// Reports whether the recorded loop device still has the disk of this machine. Only the file name is compared,
    /// because the path before it belongs to the namespace in which the disk was opened.
    boolean holdsLoop() {
        return backingFile().contains(id.value());
    }

    /// Reports whether the file of the disk was deleted while the machine runs, such as by the restore of a backup.
    boolean isOnDeletedDisk() {
        return holdsLoop() && backingFile().endsWith("(deleted)");
    }

    /// Returns the file of the recorded loop device, or an empty text without a device.
    private String backingFile() {
        var number = number("loop");
        if (number.isEmpty()) {
            return "";
        }
        try {
            return Files.readString(Path.of("/sys/block/loop" + number.getAsLong() + "/loop/backing_file"))
                    .strip();
        } catch (IOException e) {
            return "";
        }
    }

    /// Reports whether init runs. The process id can belong to another process by now, so its cgroup must have the
    /// name of the machine.
    boolean isAlive() {
        var pid = pid();
        return pid.isPresent()
                && HostProcess.isAlive(pid.getAsLong())
                && HostProcess.read(pid.getAsLong(), "cgroup").contains(id.value());
    }

    /// Last line of output of the launcher, the runtime or the guest.
    String lastOutputLine() {
        try {
            var lines = Files.readAllLines(log(), StandardCharsets.ISO_8859_1).stream()
                    .filter(line -> !line.isBlank())
                    .toList();
            return lines.isEmpty() ? "it said nothing" : lines.getLast();
        } catch (IOException e) {
            return "it said nothing";
        }
    }

    private OptionalLong number(String name) {
        try {
            return OptionalLong.of(
                    Long.parseLong(Files.readString(path.resolve(name)).strip()));
        } catch (NoSuchFileException | NumberFormatException e) {
            // Not written yet, or incomplete: the machine did not get that far.
            return OptionalLong.empty();
        } catch (IOException e) {
            // For example, too many open files: the machine must not look as if it never started.
            throw FileOperation.FIND.failed(e);
        }
    }
}
