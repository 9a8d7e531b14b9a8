package dev.vivarium.core.provider;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/// Process of the host, read from `/proc`. Stateless.
public final class HostProcess {
    private HostProcess() {}

    /// Reports whether the process runs. A zombie does not.
    public static boolean isAlive(long pid) {
        return "ZX?".indexOf(state(pid)) < 0;
    }

    /// Reports whether the process is stopped by a signal, or gone.
    public static boolean isStopped(long pid) {
        return "TtZX?".indexOf(state(pid)) >= 0;
    }

    /// State letter of the process; a question mark if it is gone. The name before it can contain any character.
    private static char state(long pid) {
        var stat = read(pid, "stat");
        int at = stat.lastIndexOf(')') + 2;
        return at > 1 && at < stat.length() ? stat.charAt(at) : '?';
    }

    /// Reads a file of the process in `/proc`; empty if the process is gone or belongs to another user. Throws
    /// `ProviderFailed` if the read fails for another reason, such as too many open files, which must not look like
    /// the exit of the process.
    public static String read(long pid, String name) {
        try {
            return new String(Files.readAllBytes(Path.of("/proc/" + pid, name)), StandardCharsets.ISO_8859_1);
        } catch (NoSuchFileException | AccessDeniedException e) {
            return "";
        } catch (IOException e) {
            if (String.valueOf(e.getMessage()).contains("No such process")) {
                return "";
            }
            throw new SandboxException(
                    new Failure.ProviderFailed("read /proc/" + pid + "/" + name, String.valueOf(e)), e);
        }
    }

    /// Bytes that the process and the descendants that it waited for have read from and written to storage. Zero if
    /// the process is gone or the kernel does not count them.
    public static long storageBytes(long pid) {
        return read(pid, "io")
                .lines()
                .filter(line -> line.startsWith("read_bytes: ") || line.startsWith("write_bytes: "))
                .mapToLong(line -> Long.parseLong(line.substring(line.indexOf(' ') + 1)))
                .sum();
    }

    /// Sends SIGKILL; ignores a process that is gone.
    public static void kill(long pid) {
        ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
    }
}
