package dev.vivarium.core.sandbox;

import static dev.vivarium.core.sandbox.House.failure;
import static dev.vivarium.core.sandbox.House.output;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.sandbox.FaultyProvider.Step;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.SandboxRows;
import dev.vivarium.model.End;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.ThreadId;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Whatever fails at whatever step, the caller is told and nothing remains.
class FaultsTest {
    private static final String ENDS = "before update on sandboxes when new.ended_at is not null";
    private static final Duration UNTIL_RECONCILED = Duration.ofSeconds(31);

    @TempDir
    Path home;

    private House house;

    @AfterEach
    void close() {
        house.close();
    }

    @ParameterizedTest
    @EnumSource(names = {"START", "AFTER_START", "CONNECT"})
    void aCreationThatFailsAtAnyStepLeavesNothing(Step step) {
        house = House.at(home, House.plain());
        house.provider.fail(step, 1);
        failure(Failure.ProviderFailed.class, () -> house.sandbox("t1"));
        house.assertNothingRemains();
        assertThat(output(house.sandbox("t1"), "echo again")).isEqualTo("again");
    }

    @ParameterizedTest
    @EnumSource(names = {"START", "AFTER_START", "CONNECT"})
    void aCreationThatFailsAndCannotBeUndoneIsTidiedUpLater(Step step) {
        house = House.at(home, House.plain());
        house.awaitFirstPass();
        house.provider.fail(step, 1);
        house.provider.fail(Step.REMOVE, 2);
        failure(Failure.ProviderFailed.class, () -> house.sandbox("t1"));
        house.time.advance(UNTIL_RECONCILED);
        await().untilAsserted(house::assertNothingRemains);
    }

    @Test
    void aGuestThatNoLongerAnswersIsPutAwayAndNobodyWaitsForEver() throws Exception {
        house = House.at(home, House.plain());
        Sandbox sandbox = house.sandbox("t1");
        long guest = house.guest(sandbox.id()).pid();
        new ProcessBuilder("kill", "-STOP", Long.toString(guest)).start().waitFor();
        house.time.advance(LivenessProbe.EVERY);
        var ended = failure(Failure.SandboxEnded.class, () -> output(sandbox, "echo heard"));
        assertThat(ended.end().cause()).isEqualTo(End.Cause.QUARANTINED);
        await().untilAsserted(house::assertNothingRemains);
    }

    @ParameterizedTest
    @EnumSource(names = {"REMOVE", "AFTER_REMOVE"})
    void anEndThatCannotRemoveTheMachineIsFinishedLater(Step step) {
        house = House.at(home, House.plain());
        Sandbox sandbox = house.sandbox("t1");
        house.provider.fail(step, 1);
        house.sandboxes.terminate(sandbox.id(), End.Cause.USER, "");
        assertThat(house.recorder.notRemoved).containsExactly(sandbox.id());
        assertThat(house.sandboxes.find(new ThreadId("t1"))).isEmpty();
        house.time.advance(UNTIL_RECONCILED);
        await().untilAsserted(house::assertNothingRemains);
    }

    @ParameterizedTest
    @EnumSource(names = {"START", "AFTER_START", "CONNECT"})
    void aPoolThatFailsAtAnyStepIsFilledInTheEnd(Step step) {
        house = House.at(home, House.plain().withPoolSize(1), provider -> provider.fail(step, 1));
        await().until(() -> !house.recorder.poolFailures.isEmpty());
        house.time.advance(UNTIL_RECONCILED);
        await().until(() -> house.sandboxes.pool().available() == 1);
        await().untilAsserted(() -> assertThat(house.provider.survivors()).hasSize(1));
        assertThat(house.rowsAlive()).hasSize(1);
    }

    @Test
    void aStoreThatFailsDuringACreationLeavesNothing() {
        house = House.at(home, House.plain());
        house.awaitFirstPass();
        breakStore("before insert on sandboxes");
        failure(Failure.StoreFailed.class, () -> house.sandbox("t1"));
        assertThat(house.provider.survivors()).isEmpty();
        mendStore();
        house.time.advance(UNTIL_RECONCILED);
        await().untilAsserted(house::assertNothingRemains);
        assertThat(output(house.sandbox("t1"), "echo again")).isEqualTo("again");
    }

    @Test
    void aStoreThatFailsDuringAHandOutLeavesNoMachineWithoutAnOwner() {
        house = House.at(home, House.plain().withPoolSize(1));
        await().until(() -> house.sandboxes.pool().available() == 1);
        breakStore("before update on sandboxes");
        failure(Failure.StoreFailed.class, () -> house.sandbox("t1"));
        mendStore();
        house.time.advance(UNTIL_RECONCILED);
        await().until(() -> house.sandboxes.pool().available() == 1);
        await().untilAsserted(() -> assertThat(house.provider.survivors()).hasSize(1));
        assertThat(house.sandboxes.pool().active()).isZero();
    }

    @Test
    void anEndThatTheStoreRefusesRemovesTheMachineAndIsStoredLater() {
        house = House.at(home, House.plain());
        Sandbox sandbox = house.sandbox("t1");
        breakStore(ENDS);
        house.sandboxes.terminate(sandbox.id(), End.Cause.USER, "by request");
        assertThat(house.provider.survivors()).isEmpty();
        assertThat(house.sandboxes.find(new ThreadId("t1"))).isEmpty();
        assertEnd(sandbox);
        assertThat(house.sandboxes.newestEnded(Optional.empty(), 10))
                .extracting(SandboxInfo::id)
                .containsExactly(sandbox.id());
        mendStore();
        house.time.advance(Duration.ofSeconds(1));
        await().untilAsserted(house::assertNothingRemains);
        assertEnd(sandbox);
        await().untilAsserted(() -> assertThat(markers()).isEmpty());
    }

    @Test
    void anEndThatTheStoreRefusedIsKnownToTheNextServer() {
        house = House.at(home, House.plain());
        Sandbox sandbox = house.sandbox("t1");
        breakStore(ENDS);
        house.sandboxes.terminate(sandbox.id(), End.Cause.USER, "by request");
        house.stop();
        assertThat(markers()).hasSize(1);
        mendStoreOfAStoppedServer();
        house.open(House.plain());
        assertThat(house.rowsAlive()).isEmpty();
        assertEnd(sandbox);
        assertThat(markers()).isEmpty();
        assertThat(house.recorder.recoveries).isEmpty();
    }

    @Test
    void anEndThatNeitherStoreNorMachineTookIsFinishedByTheNextServer() {
        house = House.at(home, House.plain());
        Sandbox sandbox = house.sandbox("t1");
        breakStore(ENDS);
        house.provider.fail(Step.REMOVE, 1);
        house.sandboxes.terminate(sandbox.id(), End.Cause.USER, "by request");
        house.stop();
        mendStoreOfAStoppedServer();
        house.open(House.plain());
        assertEnd(sandbox);
        await().untilAsserted(house::assertNothingRemains);
    }

    private void assertEnd(Sandbox sandbox) {
        End end = failure(Failure.NoSuchSandbox.class, () -> house.sandboxes.require(sandbox.id()))
                .end()
                .orElseThrow();
        assertThat(end.cause()).isEqualTo(End.Cause.USER);
        assertThat(end.detail()).isEqualTo("by request");
        assertThat(house.sandboxes.findEnded(sandbox.id()).orElseThrow().end()).contains(end);
    }

    private List<String> markers() {
        String[] names = home.resolve("ended").toFile().list();
        return names == null ? List.of() : List.of(names);
    }

    private void mendStoreOfAStoppedServer() {
        try (Db db = Db.sqlite(home.resolve("viv.db"))) {
            db.write(sql -> sql.update("drop trigger broken"));
        }
    }

    @Test
    void aStoreThatFailsStopsAPause() {
        house = House.at(home, House.plain());
        Sandbox sandbox = house.sandbox("t1");
        breakStore("before update on sandboxes when new.status = 'paused'");
        failure(
                Failure.StoreFailed.class,
                () -> sandbox.pause(PauseReason.by(sandbox.owner().user())));
        assertThat(output(sandbox, "echo on")).isEqualTo("on");
    }

    @Test
    void aDeathThatCouldNotBeStoredIsStoredLater() {
        house = House.at(home, House.plain());
        Sandbox sandbox = house.sandbox("t1");
        house.awaitFirstPass();
        breakStore("before update on sandboxes when new.ended_at is not null");
        house.killGuest(sandbox.id());
        await().until(() -> sandbox.info().end().isPresent());
        await().until(() -> house.provider.survivors().isEmpty());
        mendStore();
        house.time.advance(UNTIL_RECONCILED);
        await().untilAsserted(house::assertNothingRemains);
        assertThat(new SandboxRows(house.db)
                        .find(sandbox.id())
                        .orElseThrow()
                        .end()
                        .orElseThrow()
                        .cause())
                .isEqualTo(End.Cause.CRASH);
    }

    @Test
    void aProviderThatCannotBeSearchedIsAskedAgain() {
        house = House.at(home, House.plain(), provider -> provider.fail(Step.SURVIVORS, 1));
        await().until(() -> house.provider.hasFailed(Step.SURVIVORS));
        house.time.advance(UNTIL_RECONCILED);
        house.awaitFirstPass();
    }

    private void breakStore(String when) {
        int ignored = house.db.write(sql ->
                sql.update("create trigger broken " + when + " begin select raise(abort, 'broken by the test'); end"));
    }

    private void mendStore() {
        int ignored = house.db.write(sql -> sql.update("drop trigger broken"));
    }
}
