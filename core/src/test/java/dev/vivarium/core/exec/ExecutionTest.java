package dev.vivarium.core.exec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.guest.RealGuest;
import dev.vivarium.core.provider.HostProcess;
import dev.vivarium.model.Command;
import dev.vivarium.model.ExecEvent;
import dev.vivarium.model.ExecResult;
import dev.vivarium.model.Exit;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
final class ExecutionTest {
    private static final int SIGTERM = 15;
    private static final int SIGKILL = 9;

    /// Longer than a shell needs for its first output on the busiest machine.
    private static final Duration LIMIT = Duration.ofSeconds(5);

    private static RealGuest real;

    @BeforeAll
    static void start() {
        real = RealGuest.start();
    }

    @AfterAll
    static void stop() {
        real.close();
    }

    @Test
    void outputStreamsAndExitCodeAreReturnedSeparately() {
        ExecResult result = run(Command.shell("echo out; echo err >&2; exit 3"));
        assertThat(result.stdout()).isEqualTo("out\n");
        assertThat(result.stderr()).isEqualTo("err\n");
        assertThat(result.exitCode()).isEqualTo(3);
        assertThat(result.truncated()).isFalse();
        assertThat(result.exit().cause()).isEqualTo(Exit.Cause.EXITED);
        assertThat(result.exit().wall()).isPositive();
        assertThat(result.exit().maxResidentBytes()).isPositive();
    }

    @Test
    void eventsAreStartedOutputExited() {
        try (var execution = start(Command.of("echo", "hello"))) {
            assertThat(execution.next()).isEqualTo(new ExecEvent.Started(execution.pid()));
            assertThat(execution.pid()).isPositive();
            assertThat(execution.next())
                    .isInstanceOfSatisfying(
                            ExecEvent.Output.class,
                            output -> assertThat(output.bytes()).isEqualTo(bytes("hello\n")));
            assertThat(execution.next().isLast()).isTrue();
            assertThatThrownBy(execution::next).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void argumentsAndEnvironmentArriveUnchanged() {
        Command command = Command.of("bash", "-c", "printf '%s|%s|%s' \"$1\" \"$2\" \"$NAME\"", "-", "a b\n'\"$x", "…ä")
                .withEnv(Map.of("NAME", "välue = \\1"));
        assertThat(run(command).stdout()).isEqualTo("a b\n'\"$x|…ä|välue = \\1");
    }

    @Test
    void defaultDirectoryIsTheWorkspace() throws IOException {
        Files.createDirectories(real.workspace().resolve("below"));
        String workspace = real.workspace().toRealPath().toString();
        assertThat(run(Command.of("pwd")).stdout().strip()).isEqualTo(workspace);
        assertThat(run(Command.of("pwd").withDirectory("below")).stdout().strip())
                .isEqualTo(workspace + "/below");
        assertThat(run(Command.of("pwd").withDirectory("/")).stdout().strip()).isEqualTo("/");
    }

    @Test
    void invalidUtf8OutputIsReplaced() {
        assertThat(run(Command.shell("printf 'a\\xff\\xfeb'")).stdout()).isEqualTo("a\uFFFD\uFFFDb");
    }

    @Test
    void missingProgramCannotRun() {
        assertThatThrownBy(() -> start(Command.of("no-such-program-here")))
                .isInstanceOfSatisfying(
                        SandboxException.class,
                        e -> assertThat(e.failure())
                                .isInstanceOfSatisfying(
                                        Failure.CannotRun.class,
                                        f -> assertThat(f.program()).isEqualTo("no-such-program-here")));
    }

    @Test
    void nonExecutableFileCannotRun() throws IOException {
        Files.writeString(real.workspace().resolve("text"), "hello");
        assertThatThrownBy(() -> start(Command.of("./text")))
                .isInstanceOfSatisfying(
                        SandboxException.class, e -> assertThat(e.failure()).isInstanceOf(Failure.CannotRun.class));
    }

    @Test
    void oversizedCommandIsRejectedBeforeItIsSent() {
        assertThatThrownBy(() -> start(Command.of("echo", "x".repeat(300_000))))
                .isInstanceOfSatisfying(
                        SandboxException.class,
                        e -> assertThat(e.failure()).isInstanceOf(Failure.InvalidRequest.class));
        assertThat(run(Command.of("true")).exitCode()).isZero();
    }

    @Test
    void standardInputIsCopiedUntilClosed() throws Exception {
        var data = new byte[3_000_000];
        for (int i = 0; i < data.length; i++) {
            data[i] = (byte) ('a' + i % 26);
        }
        Command command = Command.of("cat").withInput(Command.Input.STREAM);
        try (var execution = start(command);
                var workers = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<?> writer = workers.submit(() -> {
                execution.write(data, 0, data.length);
                execution.closeInput();
                execution.closeInput();
            });
            assertThat(execution.collect().stdout()).isEqualTo(new String(data, StandardCharsets.US_ASCII));
            writer.get();
        }
    }

    @Test
    void writingToAnExitedCommandDoesNothing() {
        try (var execution = start(Command.of("true").withInput(Command.Input.STREAM))) {
            execution.collect();
            var data = new byte[1_000_000];
            execution.write(data, 0, data.length);
            execution.closeInput();
            execution.signal(SIGTERM, SignalTarget.PROCESS);
        }
    }

    @Test
    void signalTerminatesTheProcessAndIsReported() {
        try (var execution = start(Command.of("sleep", "100"))) {
            execution.signal(SIGTERM, SignalTarget.PROCESS);
            Exit exit = execution.collect().exit();
            assertThat(exit.cause()).isEqualTo(Exit.Cause.SIGNALLED);
            assertThat(exit.code()).isEqualTo(SIGTERM);
            assertThat(exit.exitCode()).isEqualTo(128 + SIGTERM);
        }
    }

    @Test
    void timeoutKillsTheProcessTree() throws IOException {
        Command command = Command.shell("setsid sleep 100 & echo $! >child; echo before; wait")
                .withTimeout(LIMIT);
        ExecResult result = run(command);
        assertThat(result.exit().cause()).isEqualTo(Exit.Cause.TIMEOUT);
        assertThat(result.exitCode()).isEqualTo(124);
        assertThat(result.stdout()).isEqualTo("before\n");
        awaitGone(pidIn("child"));
    }

    @Test
    void idleTimeoutKeepsTheOutput() {
        Command command = Command.shell("echo early; sleep 100").withIdleTimeout(LIMIT);
        ExecResult result = run(command);
        assertThat(result.exit().cause()).isEqualTo(Exit.Cause.IDLE_TIMEOUT);
        assertThat(result.stdout()).isEqualTo("early\n");
    }

    @Test
    void outputBeyondTheLimitIsDiscardedAndReported() {
        ExecResult result = run(Command.shell("head -c 100000 /dev/zero | tr '\\0' x; echo end >&2")
                .withOutputLimit(1_000));
        assertThat(result.stdout()).isEqualTo("x".repeat(1_000));
        assertThat(result.stderr()).isEqualTo("end\n");
        assertThat(result.truncated()).isTrue();
        assertThat(result.exit().stdoutBytes()).isEqualTo(100_000);
        assertThat(result.exitCode()).isZero();
    }

    @Test
    void closingKillsTheProcessTree() throws IOException {
        try (var execution = start(Command.shell("sleep 100 & echo $! >closed; echo ready; wait"))) {
            awaitOutput(execution);
        }
        awaitGone(pidIn("closed"));
    }

    @Test
    void detachedCommandContinues() throws IOException {
        Command command = Command.shell("echo ready; while [ ! -e alone ]; do sleep 0.05; done; echo done >detached");
        try (var execution = start(command)) {
            awaitOutput(execution);
            execution.detach();
            assertThat(execution.collect().exit().cause()).isEqualTo(Exit.Cause.DETACHED);
        }
        Files.createFile(real.workspace().resolve("alone"));
        await().until(() -> Files.exists(real.workspace().resolve("detached")));
    }

    @Test
    void unreadCommandBlocksWithoutBlockingOthers() {
        Command flood = Command.of("yes").withOutputLimit(Command.UNLIMITED);
        try (var slow = start(flood)) {
            awaitOutput(slow);
            long first = settledCpu(slow.pid());
            assertThat(run(Command.shell("head -c 5000000 /dev/zero | wc -c"))
                            .stdout()
                            .strip())
                    .isEqualTo("5000000");
            assertThat(settledCpu(slow.pid())).isEqualTo(first);
            long taken = 0;
            while (taken < 10_000_000) {
                taken += slow.next() instanceof ExecEvent.Output output ? output.bytes().length : 0;
            }
        }
    }

    @Test
    void concurrentCommandsKeepTheirOutputSeparate() throws Exception {
        try (var workers = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<ExecResult>> results = new ArrayList<>();
            for (int i = 0; i < 64; i++) {
                Command command = Command.shell("for n in $(seq 200); do echo " + i + "; done; echo e" + i + " >&2");
                results.add(workers.submit(() -> run(command)));
            }
            for (int i = 0; i < 64; i++) {
                ExecResult result = results.get(i).get();
                assertThat(result.stdout()).isEqualTo((i + "\n").repeat(200));
                assertThat(result.stderr()).isEqualTo("e" + i + "\n");
            }
        }
    }

    @Test
    void commandEndsWhileAChildHoldsItsOutputOpen() {
        try (var execution = start(Command.shell("sleep 100 & echo $!"))) {
            ExecResult result = execution.collect();
            assertThat(result.exitCode()).isZero();
            run(Command.of("kill", "-9", result.stdout().strip()));
        }
    }

    @Test
    void killedCommandReportsItsSignal() {
        ExecResult result = run(Command.shell("kill -9 $$"));
        assertThat(result.exit().cause()).isEqualTo(Exit.Cause.SIGNALLED);
        assertThat(result.exitCode()).isEqualTo(128 + SIGKILL);
    }

    private static Execution start(Command command) {
        return Execution.start(real.guest(), command);
    }

    private static ExecResult run(Command command) {
        try (var execution = start(command)) {
            return execution.collect();
        }
    }

    private static void awaitOutput(Execution execution) {
        while (!(execution.next() instanceof ExecEvent.Output)) {
            // Started is the first event.
        }
    }

    /// Returns the CPU time of a process once it sleeps, the guest sleeps too, and no message is in transit. A
    /// process that only waits for a CPU on a busy machine is not at rest.
    private static long settledCpu(int pid) {
        var last = new long[] {-1};
        await().pollInterval(Duration.ofMillis(50)).until(() -> {
            long before = last[0];
            last[0] = cpu(pid);
            real.guest().pingWithin(Duration.ofMinutes(1));
            return last[0] == before && sleeps(pid) && sleeps(real.process().pid()) && cpu(pid) == before;
        });
        return last[0];
    }

    private static boolean sleeps(long pid) {
        String stat = HostProcess.read(pid, "stat");
        return stat.startsWith(") S", stat.lastIndexOf(')'));
    }

    private static long cpu(int pid) {
        return ProcessHandle.of(pid)
                .orElseThrow()
                .info()
                .totalCpuDuration()
                .orElseThrow()
                .toNanos();
    }

    private static void awaitGone(long pid) {
        await().until(() -> ProcessHandle.of(pid).isEmpty());
    }

    private static long pidIn(String file) throws IOException {
        return Long.parseLong(Files.readString(real.workspace().resolve(file)).strip());
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
