package dev.vivarium.core.provider;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/// A process of the host, as `/proc` tells of it. Stateless.
public final class HostProcess {
    private HostProcess() {}

    /// Reports whether the process runs; one that ended and was not reaped yet does not.
    public static boolean isAlive(long pid) {
        return "ZX?".indexOf(state(pid)) < 0;
    }

    /// Reports whether the process was stopped by a signal, or is gone.
    public static boolean isStopped(long pid) {
        return "TtZX?".indexOf(state(pid)) >= 0;
    }

    /// The letter that stands for its state; a question mark when it is gone. The name before it may hold anything.
    private static char state(long pid) {
        var stat = read(pid, "stat");
        int at = stat.lastIndexOf(')') + 2;
        return at > 1 && at < stat.length() ? stat.charAt(at) : '?';
    }

    /// A file of the process in `/proc`, or nothing when the process is gone or belongs to somebody else. Throws
    /// `ProviderFailed` when the file cannot be read for another reason, such as too many open files: that must not
    /// look like the death of the process.
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

    /// Sends SIGKILL; a process that is gone is fine.
    public static void kill(long pid) {
        ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
    }
}
