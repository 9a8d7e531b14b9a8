package dev.vivarium.core.sandbox;

import static dev.vivarium.core.sandbox.House.failure;
import static dev.vivarium.core.sandbox.House.output;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.guest.Guest;
import dev.vivarium.core.guest.GuestObserver;
import dev.vivarium.core.guest.Service;
import dev.vivarium.core.sandbox.FaultyProvider.Step;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Status;
import dev.vivarium.model.ThreadId;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// A failure of the server never ends a sandbox: the server tries again until it succeeds.
class ServerFaultsTest {
    /// More than the chances that a guest has.
    private static final int OFTEN = 4;

    private static final ThreadId THREAD = new ThreadId("t1");

    @TempDir
    Path home;

    private House house;

    @BeforeEach
    void open() {
        house = House.at(home, House.plain());
    }

    @AfterEach
    void close() {
        house.close();
    }

    @Test
    void aGuestThatTheServerCannotAcceptIsTriedAgainUntilItCan() {
        Sandbox sandbox = house.sandbox("t1");
        String pid = output(sandbox, "sleep 1000 >/dev/null 2>&1 & echo $!");
        house.provider.fail(Step.CONNECT, OFTEN);
        guest(sandbox).close();
        await().until(() -> house.provider.hasFailed(Step.CONNECT));
        assertThat(output(sandbox, "kill -0 " + pid + " && echo alive")).isEqualTo("alive");
    }

    @Test
    void anExceptionInTheGuestLoopDoesNotCountAgainstTheSandbox() {
        Sandbox sandbox = house.sandbox("t1");
        for (int i = 0; i < OFTEN; i++) {
            await().until(() ->
                    sandbox.info().status() == Status.RUNNING && guest(sandbox).isOpen());
            Guest guest = guest(sandbox);
            guest.keptBy(new GuestObserver() {
                @Override
                public void ended(Service service) {
                    throw new IllegalStateException("as the test wants it");
                }
            });
            var _ = catchThrowable(guest::stats); // Ends a channel, which the keeper hears of in the guest loop.
            await().until(() -> !guest.isOpen());
        }
        assertThat(output(sandbox, "echo on")).isEqualTo("on");
        assertThat(sandbox.info().end()).isEmpty();
    }

    /// Adopting fails before the machine is known, connecting when it is: neither may cost the processes inside.
    @ParameterizedTest
    @EnumSource(names = {"ADOPT", "CONNECT"})
    void aSandboxThatTheServerCannotRecoverIsTriedAgain(Step step) {
        String pid = output(house.sandbox("t1"), "sleep 1000 >/dev/null 2>&1 & echo $!");
        house.stop();
        house.open(House.plain(), provider -> provider.fail(step, OFTEN));
        await().until(() -> house.provider.hasFailed(step));
        assertThat(output(house.sandboxes.require(THREAD), "kill -0 " + pid + " && echo alive"))
                .isEqualTo("alive");
    }

    @Test
    void aRestoreThatCannotStartTheMachineIsTriedAgain() {
        Sandbox sandbox = house.sandbox("t1");
        output(sandbox, "echo kept > file");
        var snapshot = house.sandboxes.snapshots().take(sandbox, "");
        house.provider.fail(Step.START, 1);
        failure(Failure.ProviderFailed.class, () -> house.sandboxes.snapshots().restore(sandbox, snapshot));
        assertThat(output(sandbox, "cat file")).isEqualTo("kept");
    }

    private static Guest guest(Sandbox sandbox) {
        return ((State.Running) sandbox.lifecycle().state()).guest();
    }
}
