package dev.vivarium.core.sandbox;

import static dev.vivarium.core.sandbox.TestEngine.failure;
import static dev.vivarium.core.sandbox.TestEngine.output;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.sandbox.FaultyProvider.Step;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.SandboxRows;
import dev.vivarium.model.End;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxInfo;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// A failure at any step is reported to the caller and leaves nothing behind.
class FaultsTest {
    private static final String ENDS = "before update on sandboxes when new.ended_at is not null";
    private static final Duration UNTIL_RECONCILED = Duration.ofSeconds(31);

    @TempDir
    Path home;

    private TestEngine engine;

    @AfterEach
    void close() {
        engine.close();
    }

    @ParameterizedTest
    @EnumSource(names = {"START", "AFTER_START", "CONNECT"})
    void failedCreationLeavesNothing(Step step) {
        engine = TestEngine.at(home, TestEngine.plain());
        engine.provider.fail(step, 1);
        failure(Failure.ProviderFailed.class, () -> engine.sandbox("t1"));
        engine.assertNothingRemains();
        assertThat(output(engine.sandbox("t1"), "echo again")).isEqualTo("again");
    }

    @ParameterizedTest
    @EnumSource(names = {"START", "AFTER_START", "CONNECT"})
    void failedUndoOfACreationIsFinishedLater(Step step) {
        engine = TestEngine.at(home, TestEngine.plain());
        engine.awaitFirstPass();
        engine.provider.fail(step, 1);
        engine.provider.fail(Step.REMOVE, 2);
        failure(Failure.ProviderFailed.class, () -> engine.sandbox("t1"));
        engine.time.advance(UNTIL_RECONCILED);
        await().untilAsserted(engine::assertNothingRemains);
    }

    @Test
    void unresponsiveGuestIsQuarantinedAndCallsFail() throws Exception {
        engine = TestEngine.at(home, TestEngine.plain());
        Sandbox sandbox = engine.sandbox("t1");
        long guest = engine.guest(sandbox.id()).pid();
        new ProcessBuilder("kill", "-STOP", Long.toString(guest)).start().waitFor();
        engine.time.advance(LivenessProbe.EVERY);
        var ended = failure(Failure.SandboxEnded.class, () -> output(sandbox, "echo heard"));
        assertThat(ended.end().cause()).isEqualTo(End.Cause.QUARANTINED);
        await().untilAsserted(engine::assertNothingRemains);
    }

    @ParameterizedTest
    @EnumSource(names = {"REMOVE", "AFTER_REMOVE"})
    void failedMachineRemovalIsFinishedLater(Step step) {
        engine = TestEngine.at(home, TestEngine.plain());
        Sandbox sandbox = engine.sandbox("t1");
        engine.provider.fail(step, 1);
        engine.sandboxes.terminate(sandbox.id(), End.Cause.USER, "");
        assertThat(engine.recorder.notRemoved).containsExactly(sandbox.id());
        assertThat(engine.sandboxes.find(TestEngine.thread("t1"))).isEmpty();
        engine.time.advance(UNTIL_RECONCILED);
        await().untilAsserted(engine::assertNothingRemains);
    }

    @ParameterizedTest
    @EnumSource(names = {"START", "AFTER_START", "CONNECT"})
    void poolIsFilledAfterAFailure(Step step) {
        engine = TestEngine.at(home, TestEngine.plain().withPoolSize(1), provider -> provider.fail(step, 1));
        await().until(() -> !engine.recorder.poolFailures.isEmpty());
        engine.time.advance(UNTIL_RECONCILED);
        await().until(() -> engine.sandboxes.pool().available() == 1);
        await().untilAsserted(() -> assertThat(engine.provider.survivors()).hasSize(1));
        assertThat(engine.rowsAlive()).hasSize(1);
    }

    @Test
    void storeFailureDuringACreationLeavesNothing() {
        engine = TestEngine.at(home, TestEngine.plain());
        engine.awaitFirstPass();
        breakStore("before insert on sandboxes");
        failure(Failure.StoreFailed.class, () -> engine.sandbox("t1"));
        assertThat(engine.provider.survivors()).isEmpty();
        repairStore();
        engine.time.advance(UNTIL_RECONCILED);
        await().untilAsserted(engine::assertNothingRemains);
        assertThat(output(engine.sandbox("t1"), "echo again")).isEqualTo("again");
    }

    @Test
    void storeFailureDuringAHandOutLeavesNoUnownedMachine() {
        engine = TestEngine.at(home, TestEngine.plain().withPoolSize(1));
        await().until(() -> engine.sandboxes.pool().available() == 1);
        breakStore("before update on sandboxes");
        failure(Failure.StoreFailed.class, () -> engine.sandbox("t1"));
        repairStore();
        engine.time.advance(UNTIL_RECONCILED);
        await().until(() -> engine.sandboxes.pool().available() == 1);
        await().untilAsserted(() -> assertThat(engine.provider.survivors()).hasSize(1));
        assertThat(engine.sandboxes.pool().active()).isZero();
    }

    @Test
    void terminationDuringAStoreFailureIsStoredLater() {
        engine = TestEngine.at(home, TestEngine.plain());
        Sandbox sandbox = engine.sandbox("t1");
        breakStore(ENDS);
        engine.sandboxes.terminate(sandbox.id(), End.Cause.USER, "by request");
        assertThat(engine.provider.survivors()).isEmpty();
        assertThat(engine.sandboxes.find(TestEngine.thread("t1"))).isEmpty();
        assertEnd(sandbox);
        assertThat(engine.sandboxes.newestEnded(Optional.empty(), 10))
                .extracting(SandboxInfo::id)
                .containsExactly(sandbox.id());
        repairStore();
        engine.time.advance(Duration.ofSeconds(1));
        await().untilAsserted(engine::assertNothingRemains);
        assertEnd(sandbox);
        await().untilAsserted(() -> assertThat(markers()).isEmpty());
    }

    @Test
    void nextServerStoresATerminationThatTheStoreRefused() {
        engine = TestEngine.at(home, TestEngine.plain());
        Sandbox sandbox = engine.sandbox("t1");
        breakStore(ENDS);
        engine.sandboxes.terminate(sandbox.id(), End.Cause.USER, "by request");
        engine.stop();
        assertThat(markers()).hasSize(1);
        repairStoreOfAStoppedServer();
        engine.open(TestEngine.plain());
        assertThat(engine.rowsAlive()).isEmpty();
        assertEnd(sandbox);
        assertThat(markers()).isEmpty();
        assertThat(engine.recorder.recoveries).isEmpty();
    }

    @Test
    void nextServerFinishesATerminationThatFailedTwice() {
        engine = TestEngine.at(home, TestEngine.plain());
        Sandbox sandbox = engine.sandbox("t1");
        breakStore(ENDS);
        engine.provider.fail(Step.REMOVE, 1);
        engine.sandboxes.terminate(sandbox.id(), End.Cause.USER, "by request");
        engine.stop();
        repairStoreOfAStoppedServer();
        engine.open(TestEngine.plain());
        assertEnd(sandbox);
        await().untilAsserted(engine::assertNothingRemains);
    }

    private void assertEnd(Sandbox sandbox) {
        End end = failure(Failure.NoSuchSandbox.class, () -> engine.sandboxes.require(sandbox.id()))
                .end()
                .orElseThrow();
        assertThat(end.cause()).isEqualTo(End.Cause.USER);
        assertThat(end.detail()).isEqualTo("by request");
        assertThat(engine.sandboxes.findEnded(sandbox.id()).orElseThrow().end()).contains(end);
    }

    private List<String> markers() {
        String[] names = home.resolve("ended").toFile().list();
        return names == null ? List.of() : List.of(names);
    }

    private void repairStoreOfAStoppedServer() {
        try (Db db = Db.sqlite(home.resolve("viv.db"))) {
            db.write(sql -> sql.update("drop trigger broken"));
        }
    }

    @Test
    void storeFailureFailsAPause() {
        engine = TestEngine.at(home, TestEngine.plain());
        Sandbox sandbox = engine.sandbox("t1");
        breakStore("before update on sandboxes when new.status = 'paused'");
        failure(
                Failure.StoreFailed.class,
                () -> sandbox.pause(PauseReason.by(sandbox.owner().user())));
        assertThat(output(sandbox, "echo on")).isEqualTo("on");
    }

    @Test
    void crashDuringAStoreFailureIsStoredLater() {
        engine = TestEngine.at(home, TestEngine.plain());
        Sandbox sandbox = engine.sandbox("t1");
        engine.awaitFirstPass();
        breakStore("before update on sandboxes when new.ended_at is not null");
        engine.killGuest(sandbox.id());
        await().until(() -> sandbox.info().end().isPresent());
        await().until(() -> engine.provider.survivors().isEmpty());
        repairStore();
        engine.time.advance(UNTIL_RECONCILED);
        await().untilAsserted(engine::assertNothingRemains);
        assertThat(new SandboxRows(engine.db)
                        .find(sandbox.id())
                        .orElseThrow()
                        .end()
                        .orElseThrow()
                        .cause())
                .isEqualTo(End.Cause.CRASH);
    }

    @Test
    void failedListingOfMachinesIsRetried() {
        engine = TestEngine.at(home, TestEngine.plain(), provider -> provider.fail(Step.SURVIVORS, 1));
        await().until(() -> engine.provider.hasFailed(Step.SURVIVORS));
        engine.time.advance(UNTIL_RECONCILED);
        engine.awaitFirstPass();
    }

    private void breakStore(String when) {
        int ignored = engine.db.write(sql ->
                sql.update("create trigger broken " + when + " begin select raise(abort, 'broken by the test'); end"));
    }

    private void repairStore() {
        int ignored = engine.db.write(sql -> sql.update("drop trigger broken"));
    }
}
