package dev.vivarium.server.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.Scheduler;
import dev.vivarium.core.access.Principal;
import dev.vivarium.core.access.RightsChanges.Change;
import dev.vivarium.core.access.Scopes;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.UserId;
import java.time.Duration;
import java.time.Instant;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class AccessRegistryTest {
    private static final Change ANNA = new Change.OfUser(new UserId("anna"));
    private static final Change BOB = new Change.OfUser(new UserId("bob"));
    private static final Failure REFUSED = new Failure.NotAuthenticated("the API key is not valid");

    private final AtomicReference<Instant> time = new AtomicReference<>(Instant.parse("2026-01-01T10:00:00Z"));
    private final DrainGate gate = new DrainGate();
    private final Scheduler scheduler = new Scheduler(time::get);
    private final AccessRegistry accesses = new AccessRegistry(gate, scheduler);
    private final Queue<Failure> losses = new ConcurrentLinkedQueue<>();
    private final AtomicInteger checks = new AtomicInteger();
    private final AtomicReference<Failure> answer = new AtomicReference<>();
    private Instant end = Instant.MAX;

    @AfterEach
    void close() {
        accesses.close();
        scheduler.close();
    }

    @Test
    void lossOfAccessIsReportedOnce() {
        try (var access = open()) {
            answer.set(REFUSED);
            accesses.changed(ANNA);
            await().until(() -> !losses.isEmpty());
            accesses.changed(ANNA);

            assertThat(access.loss()).contains(REFUSED);
            assertThatThrownBy(access::check).isInstanceOf(SandboxException.class);
            assertThat(losses).containsExactly(REFUSED);
        }
    }

    @Test
    void changeChecksOnlyTheAffectedUser() {
        try (var _ = open()) {
            accesses.changed(BOB);
            accesses.changed(ANNA);
            await().until(() -> checks.get() > 0);

            assertThat(checks).hasValue(1);
        }
    }

    @Test
    void expiredAccessIsChecked() {
        end = time.get().plus(Duration.ofMinutes(15));
        try (var _ = open()) {
            answer.set(REFUSED);
            time.updateAndGet(now -> now.plus(Duration.ofMinutes(15)));
            await().until(() -> !losses.isEmpty());
        }
    }

    @Test
    void failedCheckForAnotherReasonKeepsTheAccess() {
        try (var access = open()) {
            answer.set(new Failure.Internal("a check"));
            access.recheck();

            assertThat(access.loss()).isEmpty();
            assertThat(losses).isEmpty();
        }
    }

    @Test
    void changeBetweenAdmissionAndOpeningIsChecked() {
        long seen = accesses.changes();
        accesses.changed(ANNA);
        answer.set(REFUSED);
        try (var _ = open().since(seen)) {
            await().until(() -> !losses.isEmpty());
        }
    }

    @Test
    void closedAccessReceivesNoLoss() {
        var access = open();
        access.close();
        answer.set(REFUSED);
        access.recheck();

        assertThat(losses).isEmpty();
    }

    @Test
    void polledAccessFindsTheLossAndTheShutdown() {
        try (var access = open().polled()) {
            access.check();
            gate.shut(Duration.ZERO);
            assertThatThrownBy(access::check).hasMessageContaining("shutting down");
            answer.set(REFUSED);
            assertThatThrownBy(access::checkNow).hasMessageContaining("not valid");
            assertThat(losses).isEmpty();
        }
    }

    private Access open() {
        return accesses.open(
                Caller.of(new Principal.User(new UserId("anna"))),
                end,
                () -> {
                    checks.incrementAndGet();
                    if (answer.get() != null) {
                        throw new SandboxException(answer.get());
                    }
                    return new Access.Standing(Scopes.ALL, end);
                },
                losses::add);
    }
}
