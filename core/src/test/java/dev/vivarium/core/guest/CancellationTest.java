package dev.vivarium.core.guest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.exec.Execution;
import dev.vivarium.core.files.Workspace;
import dev.vivarium.core.files.WriteLock;
import dev.vivarium.model.Command;
import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
final class CancellationTest {
    private static final long TERABYTE = 1L << 40;

    private RealGuest real;
    private final Cancellation cancellation = new Cancellation();

    @BeforeEach
    void start() {
        real = RealGuest.start();
    }

    @AfterEach
    void stop() {
        real.close();
    }

    @Test
    void cancelledCallStopsHashingInTheGuest() throws IOException {
        try (var file = new RandomAccessFile(real.workspace().resolve("sparse").toFile(), "rw")) {
            file.setLength(TERABYTE);
        }
        var files = new Workspace(real.guest(), new WriteLock());
        var hash = inBackground(() -> files.hash("sparse"));
        await().until(() -> cpu() > 0.2);

        cancellation.cancel();

        assertCancelled(hash);
        var before = new AtomicReference<>(cpu());
        await().until(() -> before.getAndSet(cpu()).equals(before.get()));
    }

    @Test
    void cancelledCallKillsItsCommand() {
        var started = new CountDownLatch(1);
        var result = inBackground(() -> {
            try (var execution = Execution.start(real.guest(), Command.shell("exec sleep 1000"))) {
                started.countDown();
                return execution.collect();
            }
        });
        await().until(() -> started.getCount() == 0 && real.guest().stats().processes() == 1);

        cancellation.cancel();

        assertCancelled(result);
        await().until(() -> real.guest().stats().processes() == 0);
    }

    @Test
    void callAfterCancellationFailsImmediately() {
        cancellation.cancel();

        assertThatThrownBy(() -> cancellation.call(() -> real.guest().stats()))
                .isInstanceOfSatisfying(
                        SandboxException.class, e -> assertThat(e.failure()).isEqualTo(Cancellation.FAILURE));
        assertThat(real.guest().stats().processes()).isZero();
    }

    @Test
    void keptProcessSurvivesCancellation() {
        var execution = cancellation.call(() ->
                Execution.startKept(real.guest(), Command.shell("exec cat").withInput(Command.Input.STREAM), "kept"));

        cancellation.cancel();

        execution.write(new byte[] {'x'}, 0, 1);
        execution.closeInput();
        assertThat(execution.collect().stdout()).isEqualTo("x");
    }

    private <T> CompletableFuture<T> inBackground(ScopedValue.CallableOp<T, RuntimeException> work) {
        return CompletableFuture.supplyAsync(
                () -> cancellation.call(work), Executors.newVirtualThreadPerTaskExecutor());
    }

    private static void assertCancelled(CompletableFuture<?> call) {
        assertThatThrownBy(call::join)
                .isInstanceOf(CompletionException.class)
                .cause()
                .isInstanceOfSatisfying(
                        SandboxException.class, e -> assertThat(e.failure()).isEqualTo(Cancellation.FAILURE));
    }

    /// CPU time of the guest process in seconds.
    private double cpu() {
        return real.process().info().totalCpuDuration().orElseThrow().toMillis() / 1e3;
    }
}
