package dev.vivarium.core.provider.oci;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// Resident launcher: a process that starts machines on request. Loading a program for each machine would take longer
/// than the start of the machine. It exits with the server; if it exits earlier, the next start creates a new one.
/// Thread-safe.
final class ResidentLauncher implements AutoCloseable {
    private final Path program;
    private final Object lock = new Object();

    @GuardedBy("lock")
    private @Nullable Session session;

    @GuardedBy("lock")
    private long lastNumber;

    ResidentLauncher(Path program) {
        this.program = program;
    }

    /// A requested start.
    ///
    /// @param answer  completes when init has executed the guest: with an error text, or an empty text
    /// @param abandon kills the process that got the request if it has answered none since then. The next start
    ///     creates a new process
    record Start(CompletableFuture<String> answer, Runnable abandon) {}

    /// Starts a machine, whose error output goes to `log`.
    Start start(List<String> options, String secret, Path log) throws IOException {
        synchronized (lock) {
            var words = new ArrayList<>(List.of(Long.toString(++lastNumber), log.toString(), secret));
            words.addAll(options);
            return sendLocked(request(words));
        }
    }

    @GuardedBy("lock")
    private Start sendLocked(byte[] request) throws IOException {
        if (session != null && session.process.isAlive()) {
            try {
                return session.send(lastNumber, request);
            } catch (IOException e) {
                // The process has just exited, which is not detected yet; a request that could not be written has not
                // begun.
                session.process.destroy();
            }
        }
        session = Session.open(program);
        return session.send(lastNumber, request);
    }

    /// Length, then the arguments, each terminated by a zero byte; see `serve.rs` of the launcher.
    private static byte[] request(List<String> words) {
        var body = new ByteArrayOutputStream();
        for (var word : words) {
            if (word.indexOf('\0') >= 0) {
                throw new IllegalArgumentException("a zero byte would end the word: " + word);
            }
            body.writeBytes(word.getBytes(StandardCharsets.UTF_8));
            body.write(0);
        }
        return ByteBuffer.allocate(Integer.BYTES + body.size())
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(body.size())
                .put(body.toByteArray())
                .array();
    }

    /// Ends the process; starts in progress continue.
    @Override
    public void close() {
        synchronized (lock) {
            if (session != null) {
                session.close();
                session = null;
            }
        }
    }

    /// One process and its pending starts.
    ///
    /// @param answered time of the last answer, by `System.nanoTime`
    private record Session(Process process, Map<Long, CompletableFuture<String>> pending, AtomicLong answered) {
        static Session open(Path program) throws IOException {
            var builder =
                    new ProcessBuilder(program.toString(), "serve").redirectError(ProcessBuilder.Redirect.DISCARD);
            builder.environment().clear();
            var session = new Session(builder.start(), new ConcurrentHashMap<>(), new AtomicLong(System.nanoTime()));
            Thread.ofPlatform().daemon().name("launcher-answers").start(session::readAnswers);
            return session;
        }

        Start send(long number, byte[] request) throws IOException {
            var answer = new CompletableFuture<String>();
            pending.put(number, answer);
            var requests = process.getOutputStream();
            requests.write(request);
            requests.flush();
            long sent = System.nanoTime();
            return new Start(answer, () -> killIfStalled(sent));
        }

        private void killIfStalled(long since) {
            if (answered.get() - since < 0) {
                process.destroyForcibly();
            }
        }

        private void readAnswers() {
            try (var answers = process.inputReader(StandardCharsets.UTF_8)) {
                readAll(answers);
            } catch (IOException e) {
                // The process exited; its pending starts are completed below.
            } finally {
                process.destroy();
                pending.values().forEach(answer -> answer.complete("the launcher ended"));
            }
        }

        private void readAll(BufferedReader answers) throws IOException {
            for (var line = answers.readLine(); line != null; line = answers.readLine()) {
                answered.set(System.nanoTime());
                int space = line.indexOf(' ');
                var answer = pending.remove(Long.parseLong(line.substring(0, space)));
                if (answer != null) {
                    answer.complete(line.substring(space + 1));
                }
            }
        }

        void close() {
            try {
                process.getOutputStream().close();
            } catch (IOException e) {
                process.destroy();
            }
        }
    }
}
