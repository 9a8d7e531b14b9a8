package dev.vivarium.core.sandbox;

import static dev.vivarium.core.sandbox.TestEngine.failure;
import static dev.vivarium.core.sandbox.TestEngine.output;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.guest.Guest;
import dev.vivarium.core.guest.GuestObserver;
import dev.vivarium.core.guest.Service;
import dev.vivarium.core.sandbox.FaultyProvider.Step;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Status;
import dev.vivarium.model.ThreadKey;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// A failure of the server never ends a sandbox: the server tries again until it succeeds.
class ServerFaultsTest {
    /// More failures than a guest may cause before it is quarantined.
    private static final int OFTEN = 4;

    private static final ThreadKey THREAD = TestEngine.thread("t1");

    @TempDir
    Path home;

    private TestEngine engine;

    @BeforeEach
    void open() {
        engine = TestEngine.at(home, TestEngine.plain());
    }

    @AfterEach
    void close() {
        engine.close();
    }

    @Test
    void failedReconnectIsRetriedUntilItSucceeds() {
        Sandbox sandbox = engine.sandbox("t1");
        String pid = output(sandbox, "sleep 1000 >/dev/null 2>&1 & echo $!");
        engine.provider.fail(Step.CONNECT, OFTEN);
        guest(sandbox).close();
        await().until(() -> engine.provider.hasFailed(Step.CONNECT));
        assertThat(output(sandbox, "kill -0 " + pid + " && echo alive")).isEqualTo("alive");
    }

    @Test
    void exceptionInTheGuestLoopDoesNotEndTheSandbox() {
        Sandbox sandbox = engine.sandbox("t1");
        for (int i = 0; i < OFTEN; i++) {
            await().until(() ->
                    sandbox.info().status() == Status.RUNNING && guest(sandbox).isOpen());
            Guest guest = guest(sandbox);
            guest.observedBy(new GuestObserver() {
                @Override
                public void ended(Service service) {
                    throw new IllegalStateException("as the test wants it");
                }
            });
            var _ = catchThrowable(guest::stats); // Ends a channel. The guest loop then calls the observer.
            await().until(() -> !guest.isOpen());
        }
        assertThat(output(sandbox, "echo on")).isEqualTo("on");
        assertThat(sandbox.info().end()).isEmpty();
    }

    /// Adoption fails before the machine is known, and connecting fails afterwards. Neither may end the processes
    /// inside.
    @ParameterizedTest
    @EnumSource(names = {"ADOPT", "CONNECT"})
    void failedRecoveryIsRetried(Step step) {
        String pid = output(engine.sandbox("t1"), "sleep 1000 >/dev/null 2>&1 & echo $!");
        engine.stop();
        engine.open(TestEngine.plain(), provider -> provider.fail(step, OFTEN));
        await().until(() -> engine.provider.hasFailed(step));
        assertThat(output(engine.sandboxes.require(THREAD), "kill -0 " + pid + " && echo alive"))
                .isEqualTo("alive");
    }

    @Test
    void failedStartAfterARestoreIsRetried() {
        Sandbox sandbox = engine.sandbox("t1");
        output(sandbox, "echo kept > file");
        var snapshot = engine.sandboxes.snapshots().take(sandbox, "");
        engine.provider.fail(Step.START, 1);
        failure(Failure.ProviderFailed.class, () -> engine.sandboxes.snapshots().restore(sandbox, snapshot));
        assertThat(output(sandbox, "cat file")).isEqualTo("kept");
    }

    private static Guest guest(Sandbox sandbox) {
        return ((State.Running) sandbox.lifecycle().state()).guest();
    }
}
