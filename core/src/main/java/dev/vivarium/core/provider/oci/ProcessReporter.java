package dev.vivarium.core.provider.oci;

import dev.vivarium.core.provider.ProcessListener;
import dev.vivarium.model.SandboxId;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Process of the launcher that reports the processes in machines; see `processes.rs` of the launcher. It exits with
/// the server. Thread-safe.
final class ProcessReporter implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ProcessReporter.class);
    private static final String READY = "ready";

    private final Process process;
    private volatile boolean closed;

    private ProcessReporter(Process process) {
        this.process = process;
    }

    /// Starts the reporter. Empty if the kernel does not report processes, which the log then says.
    static Optional<ProcessReporter> start(Path launcher, ProcessListener listener) {
        var builder = new ProcessBuilder(launcher.toString(), "process-reporter")
                .redirectError(ProcessBuilder.Redirect.DISCARD);
        builder.environment().clear();
        try {
            var process = builder.start();
            var lines = process.inputReader(StandardCharsets.UTF_8);
            var answer = lines.readLine();
            if (!READY.equals(answer)) {
                process.destroy();
                unsupported(answer == null ? "the process reporter exited" : answer);
                return Optional.empty();
            }
            var reporter = new ProcessReporter(process);
            Thread.ofPlatform().daemon().name("process-reports").start(() -> reporter.read(lines, listener));
            return Optional.of(reporter);
        } catch (IOException e) {
            unsupported(e.toString());
            return Optional.empty();
        }
    }

    static void unsupported(String why) {
        LOG.info("Processes that a command starts have no events: {}", why);
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /// Reports the processes of a machine that has just started.
    void watch(SandboxId machine, long init) {
        send("watch " + machine + " " + init);
    }

    /// Reports the processes of a machine of an earlier server, except those that run already.
    void adopt(SandboxId machine, long init) {
        send("adopt " + machine + " " + init);
    }

    void forget(SandboxId machine) {
        send("forget " + machine);
    }

    private synchronized void send(String line) {
        try {
            var input = process.getOutputStream();
            input.write((line + "\n").getBytes(StandardCharsets.US_ASCII));
            input.flush();
        } catch (IOException e) {
            // The process has exited, which the reading thread logs.
        }
    }

    private void read(BufferedReader lines, ProcessListener listener) {
        try (lines) {
            for (var line = lines.readLine(); line != null; line = lines.readLine()) {
                report(line, listener);
            }
        } catch (IOException | RuntimeException e) {
            LOG.warn("A report about a process failed: {}", e.getMessage(), e);
        }
        process.destroy();
        if (!closed) {
            LOG.warn("The process reporter exited; until the next start, processes have no events");
        }
    }

    private static void report(String line, ProcessListener listener) {
        var words = line.split(" ", 4);
        var machine = new SandboxId(words[1]);
        int number = Integer.parseInt(words[2]);
        switch (words[0]) {
            case "started" -> listener.started(machine, number, words[3]);
            case "exited" -> {
                var end = words[3].split(" ");
                listener.exited(machine, number, Integer.parseInt(end[0]), Duration.ofMillis(Long.parseLong(end[1])));
            }
            case "omitted" -> listener.omitted(machine, number);
            default -> throw new IllegalStateException("unknown report " + line);
        }
    }

    @Override
    public void close() {
        closed = true;
        try {
            process.getOutputStream().close();
        } catch (IOException e) {
            process.destroy();
        }
    }
}
