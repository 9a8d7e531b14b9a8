package dev.vivarium.core.provider.oci;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.vivarium.core.provider.FileTrees;
import dev.vivarium.core.provider.HostTool;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// XFS in a sparse file, for a home whose file system cannot share blocks between files. It is created with the first
/// snapshot. Thread-safe.
///
/// It is mounted in a separate namespace. A small process keeps the namespace, and other processes reach it through
/// `/proc`. The host sees no mount, and after the exit of the process and of the machines on it, the kernel releases
/// the rest. A machine that outlives the server keeps the loop device; `mount` finds that device again, and the kernel
/// shares the file system.
final class ReflinkVolume implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final Duration RETRY = Duration.ofMillis(20);
    private static final long SMALLEST = 4L << 30;

    /// Ignores SIGINT, because Ctrl-C in a terminal is for the server, which may still need this process. Direct
    /// I/O avoids a second copy of each page in memory.
    private static final String KEEP = """
            trap '' INT
            mount -t xfs -o loop,noatime,nosuid,nodev,discard "$0" "$1" || exit 1
            losetup --direct-io=on "$(findmnt -n -o SOURCE --mountpoint "$1")" 2> /dev/null
            echo ready
            exec cat > /dev/null
            """;

    private final Path file;
    private final Path mountPoint;
    private final Object lock = new Object();

    @GuardedBy("lock")
    private @Nullable Process mountProcess;

    ReflinkVolume(Path file, Path mountPoint) {
        this.file = file;
        this.mountPoint = mountPoint;
    }

    /// Reports whether the host supports such a volume.
    static boolean isPossible() {
        return Files.isWritable(Path.of("/dev/loop-control"))
                && List.of("mkfs.xfs", "unshare", "mount", "losetup", "findmnt").stream()
                        .allMatch(program -> OciConfig.find(program).isPresent());
    }

    /// Root of the volume, if it exists.
    Optional<Path> find() throws IOException {
        synchronized (lock) {
            return mountProcess != null && mountProcess.isAlive() || Files.exists(file)
                    ? Optional.of(openLocked())
                    : Optional.empty();
        }
    }

    /// Root of the volume; creates it if needed.
    Path require() throws IOException {
        synchronized (lock) {
            if (!Files.exists(file)) {
                make();
            }
            return openLocked();
        }
    }

    /// As large as the file system of the home, since only written blocks use space. The log has the minimum size.
    private void make() throws IOException {
        var unready = file.resolveSibling(file.getFileName() + ".new");
        try (var sparse = new RandomAccessFile(unready.toFile(), "rw")) {
            sparse.setLength(
                    Math.max(SMALLEST, Files.getFileStore(file.getParent()).getTotalSpace()));
        }
        try {
            var mkfs = OciConfig.find("mkfs.xfs").orElseThrow().toString();
            HostTool.run(
                    "make the annex",
                    List.of(mkfs, "-q", "-f", "-m", "reflink=1", "-l", "size=64m", unready.toString()));
            Files.move(unready, file, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(unready);
        }
    }

    @GuardedBy("lock")
    private Path openLocked() throws IOException {
        if (mountProcess == null || !mountProcess.isAlive()) {
            mountProcess = startMountProcess();
        }
        return Path.of("/proc/" + mountProcess.pid() + "/root" + mountPoint);
    }

    /// Starts a process that keeps the volume mounted until its standard input ends. Retries, because the kernel
    /// may still release the mount of an earlier server.
    private Process startMountProcess() throws IOException {
        FileTrees.make(mountPoint, "rwx------");
        long deadline = System.nanoTime() + TIMEOUT.toNanos();
        while (true) {
            var process = spawn();
            var line = process.inputReader(StandardCharsets.UTF_8).readLine();
            if ("ready".equals(line)) {
                return process;
            }
            process.destroy();
            if (System.nanoTime() - deadline > 0 || Thread.currentThread().isInterrupted()) {
                throw new SandboxException(new Failure.ProviderFailed(
                        "open the annex " + file,
                        line + "; repair it with xfs_repair, or move it away, snapshots and all"));
            }
            LockSupport.parkNanos(RETRY.toNanos());
        }
    }

    private Process spawn() throws IOException {
        var builder = new ProcessBuilder(List.of(
                        "unshare",
                        "--mount",
                        "--propagation",
                        "private",
                        "sh",
                        "-c",
                        KEEP,
                        file.toString(),
                        mountPoint.toString()))
                .redirectErrorStream(true);
        builder.environment().clear();
        builder.environment().putAll(HostTool.ENVIRONMENT);
        return builder.start();
    }

    /// Unmounts the volume; machines on it continue. Idempotent.
    @Override
    public void close() {
        synchronized (lock) {
            if (mountProcess != null) {
                end(mountProcess);
                mountProcess = null;
            }
        }
    }

    private static void end(Process mountProcess) {
        try {
            mountProcess.getOutputStream().close();
            if (!mountProcess.waitFor(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)) {
                mountProcess.destroyForcibly();
            }
        } catch (IOException e) {
            mountProcess.destroyForcibly();
        } catch (InterruptedException e) {
            mountProcess.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
