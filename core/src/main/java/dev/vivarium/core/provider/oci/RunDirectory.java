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

/// The directory of one machine on the host: its bundle, its wire and what a later server must know. The launcher
/// mounts it over the stage, so its inside is also what the runtime sees. Immutable.
///
/// ```
/// config.json  the bundle          rootfs/ lower/ disk/ guest userns  where the launcher mounts, for itself only
/// wire/s       the guest's socket  meminfo               what /proc/meminfo shows
/// state/       the runtime's records
/// slot pid loop lock log           numbers of the user range, init and loop device; the launcher's lock; last words
/// grace                            seconds that the machine goes on without a server
/// store unused                     id of the store; present until the machine is handed out (see Inventory)
/// ```
record RunDirectory(Path path, SandboxId id) {
    /// Where the launcher binds the runtime's program, read-only.
    static final String RUNTIME = "runtime";

    static RunDirectory of(Path run, SandboxId id) {
        return new RunDirectory(run.resolve(id.value()), id);
    }

    /// Every machine below `run`.
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

    /// Makes the directory for the user range `slot`. Its parent keeps others out; the range's root passes through
    /// it.
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
        // The range's root finds the socket in it but can put nothing there: it is the host's disk, and the host acts
        // as root in it.
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

    /// Writes what `/proc/meminfo` shows inside. Always the same length and in place: the file is bound into the
    /// running machine, so a new one would not be seen, and a reader must not find half of it.
    void showMemory(long bytes) throws IOException {
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

    /// The process id of init, if it was ever started.
    OptionalLong pid() {
        return number("pid");
    }

    /// Reports whether the loop device that the launcher noted still has this machine's disk. The name tells: the
    /// path before it is that of the namespace in which the disk was opened.
    boolean holdsLoop() {
        var number = number("loop");
        if (number.isEmpty()) {
            return false;
        }
        try {
            var backing = Path.of("/sys/block/loop" + number.getAsLong() + "/loop/backing_file");
            return Files.readString(backing).contains(id.value());
        } catch (IOException e) {
            return false;
        }
    }

    /// Reports whether init runs. A process id may have been given to another process since, so its cgroup must
    /// bear the machine's name.
    boolean isAlive() {
        var pid = pid();
        return pid.isPresent()
                && HostProcess.isAlive(pid.getAsLong())
                && HostProcess.read(pid.getAsLong(), "cgroup").contains(id.value());
    }

    /// The last line that the launcher, the runtime or the guest wrote.
    String workerOutputTail() {
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
            // Not written yet, or not whole: the machine never got that far.
            return OptionalLong.empty();
        } catch (IOException e) {
            // For example too many open files: the machine must not look as if it had never started.
            throw FileOperation.FIND.failed(e);
        }
    }
}
