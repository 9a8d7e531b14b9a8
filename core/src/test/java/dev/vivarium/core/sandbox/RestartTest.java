package dev.vivarium.core.sandbox;

import static dev.vivarium.core.sandbox.TestEngine.failure;
import static dev.vivarium.core.sandbox.TestEngine.output;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.StoreId;
import dev.vivarium.core.provider.GuestPrograms;
import dev.vivarium.core.provider.MachineSpec;
import dev.vivarium.core.provider.Provider.Disk;
import dev.vivarium.core.provider.process.ProcessProvider;
import dev.vivarium.core.sandbox.FaultyProvider.Step;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.SandboxRow;
import dev.vivarium.core.store.SandboxRow.Phase;
import dev.vivarium.core.store.SandboxRows;
import dev.vivarium.model.Egress;
import dev.vivarium.model.End;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Limits;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.OnIdle;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.Status;
import dev.vivarium.model.ThreadKey;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RestartTest {
    private static final ThreadKey THREAD = TestEngine.thread("t1");
    private static final StoreId STORE = new StoreId("0123456789abcdef");

    @TempDir
    Path home;

    private TestEngine engine;

    @AfterEach
    void close() {
        engine.close();
    }

    @Test
    void restartAfterAKillAdoptsSandboxesWithProcessesAndFiles() {
        SandboxId id;
        String pid;
        Set<SandboxId> machines;
        try (var killed = KilledServer.start(home)) {
            id = killed.id();
            pid = killed.backgroundPid();
        }
        engine = TestEngine.at(home, TestEngine.plain().withPoolSize(1));
        machines = new HashSet<>(engine.provider.survivors());
        Sandbox sandbox = engine.sandboxes.require(THREAD);
        assertThat(sandbox.id()).isEqualTo(id);
        assertThat(output(sandbox, "cat file; kill -0 " + pid + " && echo alive"))
                .isEqualTo("kept\nalive");
        engine.awaitRecovery(SandboxListener.Recovery.ADOPTED);
        await().until(() -> engine.sandboxes.pool().available() == 1);
        assertThat(engine.provider.survivors())
                .as("the pooled machine was adopted")
                .isEqualTo(machines);
        assertThat(machines).hasSize(2);
    }

    @Test
    void shutdownRemovesPooledMachinesAndTheirRows() {
        engine = TestEngine.at(home, TestEngine.plain().withPoolSize(2));
        await().until(() -> engine.sandboxes.pool().available() == 2);
        SandboxId used = engine.sandbox("t1").id();
        engine.stop();
        try (var provider = provider();
                Db db = Db.sqlite(home.resolve("viv.db"))) {
            assertThat(provider.survivors()).containsExactly(used);
            assertThat(new SandboxRows(db).alive()).extracting(SandboxRow::id).containsExactly(used);
        }
        engine.open(TestEngine.plain());
        assertThat(engine.sandboxes.require(THREAD).id()).isEqualTo(used);
    }

    @Test
    void deadMachineIsRevivedWithItsWorkspace() {
        SandboxId id;
        try (var killed = KilledServer.start(home)) {
            id = killed.id();
        }
        killAllGuests();
        engine = TestEngine.at(home, TestEngine.plain().withPoolSize(1));
        Sandbox sandbox = engine.sandboxes.require(THREAD);
        assertThat(sandbox.id()).isEqualTo(id);
        assertThat(sandbox.info().status()).isEqualTo(Status.RUNNING);
        assertThat(output(sandbox, "cat file")).isEqualTo("kept");
        engine.awaitRecovery(SandboxListener.Recovery.REVIVED);
        await().until(() -> engine.sandboxes.pool().available() == 1);
        await().untilAsserted(() -> assertThat(engine.provider.survivors()).hasSize(2));
    }

    @Test
    void failedRevivalIsRetried() {
        engine = TestEngine.at(home, TestEngine.plain());
        Sandbox before = engine.sandbox("t1");
        output(before, "echo kept > file");
        engine.stop();
        engine.killGuest(before.id());
        engine.open(TestEngine.plain(), provider -> provider.fail(Step.CONNECT, 2));
        assertThat(output(engine.sandboxes.require(THREAD), "cat file")).isEqualTo("kept");
    }

    @Test
    void restartKeepsTheAbsoluteLifetime() {
        engine = TestEngine.at(home, TestEngine.plain());
        Sandbox before = engine.sandbox("t1");
        Instant ends = before.info().endsAt();
        engine.stop();
        engine.open(TestEngine.plain());
        assertThat(engine.sandboxes.require(THREAD).info().endsAt()).isEqualTo(ends);
        engine.stop();
        engine.time.advance(Duration.ofHours(25));
        engine.open(TestEngine.plain());
        failure(Failure.NoSandboxForThread.class, () -> engine.sandboxes.require(THREAD));
        var gone = failure(Failure.NoSuchSandbox.class, () -> engine.sandboxes.require(before.id()));
        assertThat(gone.end().orElseThrow().cause()).isEqualTo(End.Cause.LIFETIME);
        await().untilAsserted(engine::assertNothingRemains);
    }

    @Test
    void lastActivityIsSavedAndDowntimeIsNotIdleTime() {
        engine = TestEngine.at(home, TestEngine.plain());
        Sandbox before = engine.sandbox("t1");
        engine.time.advance(Duration.ofMinutes(20));
        before.touch();
        Instant used = before.info().lastActivity();
        engine.stop();
        try (Db db = Db.sqlite(home.resolve("viv.db"))) {
            assertThat(new SandboxRows(db).find(before.id()).orElseThrow().lastActivity())
                    .isEqualTo(used);
        }
        engine.time.advance(Duration.ofHours(2));
        engine.open(TestEngine.plain());
        SandboxInfo after = engine.sandboxes.require(THREAD).info();
        assertThat(after.id()).isEqualTo(before.id());
        assertThat(after.lastActivity()).isEqualTo(used.truncatedTo(ChronoUnit.MILLIS));
        assertThat(after.expiresAt()).isAfter(engine.time.instant());
    }

    @Test
    void limitOfTheIdleTimeoutSurvivesARestart() {
        engine = TestEngine.at(home, TestEngine.plain());
        Sandbox before = engine.sandbox("t1");
        before.limitIdle(Duration.ofMinutes(5));
        engine.stop();
        engine.open(TestEngine.plain());
        Sandbox after = engine.sandboxes.require(THREAD);
        after.awaitFound();
        assertThat(after.id()).isEqualTo(before.id());
        assertThat(after.info().expiresAt())
                .isBeforeOrEqualTo(engine.time.instant().plus(Duration.ofMinutes(5)));
        assertThat(after.findDifference(NewSandbox.of(THREAD.user(), THREAD.thread())
                        .withIdleTimeout(TestEngine.plain().times().idle())))
                .as("the timeout of the request stays")
                .isEmpty();
        engine.time.advance(Duration.ofMinutes(6));
        await().until(() -> after.info().end().isPresent());
        assertThat(after.info().end().orElseThrow().cause()).isEqualTo(End.Cause.IDLE);
    }

    @Test
    void unknownMachineIsRemovedAndCounted() {
        SandboxId orphan = SandboxId.random(new SecureRandom());
        try (var provider = provider()) {
            provider.start(new MachineSpec(orphan, "secret", "host", Limits.STANDARD, STORE));
        }
        engine = TestEngine.at(home, TestEngine.plain());
        await().untilAsserted(() -> assertThat(engine.recorder.orphans).containsExactly(orphan));
        engine.assertNothingRemains();
        assertThat(engine.sandboxes.reconciliation().orphans()).isEqualTo(1);
    }

    @Test
    void diskOfATerminatedSandboxIsRemoved() {
        engine = TestEngine.at(home, TestEngine.plain());
        Sandbox sandbox = engine.sandbox("t1");
        engine.awaitFirstPass();
        engine.provider.fail(Step.REMOVE, 1);
        engine.sandboxes.terminate(sandbox.id(), End.Cause.USER, "");
        assertThat(engine.provider.survivors()).containsExactly(sandbox.id());
        engine.stop();
        engine.open(TestEngine.plain());
        await().untilAsserted(engine::assertNothingRemains);
    }

    @Test
    void interruptedCreationFails() {
        SandboxRow row = row(Optional.of(THREAD), Phase.CREATING);
        insertLeftover(row);
        engine = TestEngine.at(home, TestEngine.plain());
        await().untilAsserted(engine::assertNothingRemains);
        var gone = failure(Failure.NoSuchSandbox.class, () -> engine.sandboxes.require(row.id()));
        assertThat(gone.end().orElseThrow().cause()).isEqualTo(End.Cause.SERVER);
        assertThat(engine.sandbox("t1").info().status()).isEqualTo(Status.RUNNING);
    }

    @Test
    void unfinishedAndSurplusPooledMachinesAreRemoved() {
        insertLeftover(row(Optional.empty(), Phase.CREATING));
        insertLeftover(row(Optional.empty(), Phase.POOLED));
        engine = TestEngine.at(home, TestEngine.plain());
        await().untilAsserted(engine::assertNothingRemains);
    }

    @Test
    void slowAdoptionDoesNotBlockOtherSandboxes() throws Exception {
        engine = TestEngine.at(home, TestEngine.plain());
        Sandbox before = engine.sandbox("t1");
        engine.stop();
        engine.open(TestEngine.plain(), provider -> provider.hold(Step.ADOPT));
        engine.provider.awaitArrival(Step.ADOPT);
        assertThat(output(engine.sandbox("t2"), "echo here")).isEqualTo("here");
        assertThat(engine.sandboxes.list()).hasSize(2);
        engine.provider.open(Step.ADOPT);
        assertThat(engine.sandboxes.require(THREAD).id()).isEqualTo(before.id());
    }

    private void insertLeftover(SandboxRow row) {
        try (var provider = provider();
                Db db = Db.sqlite(home.resolve("viv.db"))) {
            new SandboxRows(db).insert(row);
            provider.start(new MachineSpec(row.id(), row.secret(), row.image(), row.limits(), db.id()));
        }
    }

    private void killAllGuests() {
        try (var provider = provider()) {
            provider.survivors().forEach(id -> provider.remove(id, Disk.KEEP));
        }
    }

    private ProcessProvider provider() {
        return ProcessProvider.open(home, GuestPrograms.extractTo(home));
    }

    private static SandboxRow row(Optional<ThreadKey> owner, Phase phase) {
        Instant now = Instant.now();
        return new SandboxRow(
                SandboxId.random(new SecureRandom()),
                owner,
                phase,
                "host",
                "secret",
                Limits.STANDARD,
                Map.of(),
                Egress.NONE,
                Duration.ofMinutes(30),
                OnIdle.END,
                now,
                now,
                now.plusSeconds(3600),
                Optional.empty());
    }
}
