package dev.vivarium.core.provider;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Process that outlives the server and removes the machines of its home after their grace without a server; see
/// `orphans.rs` of the launcher. Guests exit by themselves, but a frozen guest cannot, and no guest can remove its
/// cgroups and its directory. Thread-safe.
public final class OrphanWatcher {
    private static final Logger LOG = LoggerFactory.getLogger(OrphanWatcher.class);
    private static final Duration EXIT = Duration.ofSeconds(5);

    /// File in the directory of a machine with its grace in seconds.
    private static final String GRACE = "grace";

    private final List<String> command;
    private final Object lock = new Object();

    /// Its standard input stays open while the server runs.
    @GuardedBy("lock")
    private @Nullable Process process;

    /// Creates a watcher of the machines in `run`. `groups` are its options that name cgroups.
    public OrphanWatcher(Path program, Path home, Path run, List<String> groups) {
        var words = new ArrayList<>(List.of(program.toString(), "orphan-watcher"));
        words.addAll(List.of("--home", home.toString(), "--run", run.toString()));
        words.addAll(List.of("--grace", Long.toString(MachineSpec.ORPHAN_GRACE.toSeconds())));
        words.addAll(groups);
        this.command = List.copyOf(words);
    }

    /// Writes the grace of one machine, which the watcher reads after the exit of the server.
    public static void writeGrace(Path machine, Duration grace) throws IOException {
        Files.writeString(machine.resolve(GRACE), Long.toString(MachineSpec.seconds(grace)));
    }

    /// Starts the process unless it runs. If the start fails, guests still exit by themselves, and the next server
    /// removes the rest.
    public void ensure() {
        synchronized (lock) {
            if (process != null && process.isAlive()) {
                return;
            }
            var builder =
                    new ProcessBuilder(command).redirectOutput(Redirect.DISCARD).redirectError(Redirect.DISCARD);
            builder.environment().clear();
            try {
                process = builder.start();
            } catch (IOException e) {
                LOG.warn("the orphan watcher could not be started: {}", e.getMessage());
            }
        }
    }

    /// Closes the standard input of the process. The process exits soon if no machine is left, and watches the
    /// machines otherwise.
    public void release() {
        synchronized (lock) {
            if (process != null) {
                closeInput(process);
                process = null;
            }
        }
    }

    /// Like [#release] for a home without machines. Returns when the process has exited.
    public void end() {
        synchronized (lock) {
            if (process != null) {
                closeInput(process);
                awaitExit(process);
                process = null;
            }
        }
    }

    private static void closeInput(Process process) {
        try {
            process.getOutputStream().close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void awaitExit(Process process) {
        try {
            if (!process.waitFor(EXIT.toMillis(), TimeUnit.MILLISECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
