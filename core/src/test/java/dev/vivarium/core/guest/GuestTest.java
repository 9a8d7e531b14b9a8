package dev.vivarium.core.guest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.exec.Execution;
import dev.vivarium.model.Command;
import dev.vivarium.model.ExecEvent;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
final class GuestTest {
    private RealGuest real;

    @BeforeEach
    void start() {
        real = RealGuest.start();
    }

    @AfterEach
    void stop() {
        real.close();
    }

    @Test
    void guestAnswersAPing() {
        assertThat(real.guest().pingWithin(Duration.ofMinutes(1))).isPositive();
        assertThat(real.guest().build()).isNotBlank();
        assertThat(real.guest().survivors()).isEmpty();
    }

    @Test
    void statisticsDescribeARunningGuest() {
        GuestStats stats;
        try (var execution = Execution.start(real.guest(), Command.of("sleep", "100"))) {
            assertThat(execution.pid()).isPositive();
            stats = real.guest().stats();
        }
        assertThat(stats.processes()).isPositive();
        assertThat(stats.diskTotal()).isGreaterThanOrEqualTo(stats.diskFree()).isPositive();
        assertThat(stats.uptime()).isGreaterThanOrEqualTo(Duration.ZERO);
    }

    @Test
    void setupLimitsTheProcessorsOfCommands() {
        try (var setup = real.guest().startSetup(1, 3600)) {
            setup.await();
        }
        try (var execution = Execution.start(real.guest(), Command.of("nproc"))) {
            assertThat(execution.collect().stdout().strip()).isEqualTo("1");
        }
    }

    @Test
    void shutDownGuestDisconnectsAndExits() throws InterruptedException {
        Guest guest = real.guest();
        guest.shutdown();
        assertThat(real.process().waitFor()).isZero();
        await().until(() -> !guest.isOpen());
        assertThat(guest.loss().orElseThrow().cause()).isEqualTo(Disconnect.Cause.BROKEN);
        assertThatThrownBy(() -> guest.pingWithin(Duration.ofMinutes(1)))
                .isInstanceOfSatisfying(
                        SandboxException.class,
                        e -> assertThat(e.failure()).isInstanceOf(Failure.GuestUnreachable.class));
    }

    @Test
    void processesSurviveALostConnectionAndAreListedAfterwards() throws IOException {
        Guest first = real.guest();
        var execution =
                Execution.start(first, Command.shell("echo on; while [ ! -e go ]; do sleep 0.05; done; echo >gone"));
        awaitOutput(execution);
        first.close();
        assertThatThrownBy(execution::next)
                .isInstanceOfSatisfying(
                        SandboxException.class,
                        e -> assertThat(e.failure()).isInstanceOf(Failure.GuestUnreachable.class));
        Guest second = real.accept();
        assertThat(second.survivors()).extracting(SurvivingProcess::pid).containsExactly(execution.pid());
        second.detach(second.survivors().getFirst());
        assertThat(second.pingWithin(Duration.ofMinutes(1))).isPositive();
        Files.createFile(real.workspace().resolve("go"));
        await().until(() -> Files.exists(real.workspace().resolve("gone")));
    }

    @Test
    void sequentialCommandsLeakNoChannels() {
        for (int i = 0; i < 2_000; i++) {
            try (var execution = Execution.start(real.guest(), Command.of("/bin/true"))) {
                assertThat(execution.collect().exitCode()).isZero();
            }
        }
    }

    private static void awaitOutput(Execution execution) {
        while (!(execution.next() instanceof ExecEvent.Output)) {
            // Started is the first event.
        }
    }
}
