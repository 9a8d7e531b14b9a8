package dev.vivarium.core.sandbox;

import static dev.vivarium.core.sandbox.House.failure;
import static dev.vivarium.core.sandbox.House.output;
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
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.Status;
import dev.vivarium.model.ThreadId;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RestartTest {
    private static final ThreadId THREAD = new ThreadId("t1");
    private static final StoreId STORE = new StoreId("0123456789abcdef");

    @TempDir
    Path home;

    private House house;

    @AfterEach
    void close() {
        house.close();
    }

    @Test
    void aKilledServerFindsItsSandboxesWithTheirProcessesAndFiles() {
        SandboxId id;
        String pid;
        Set<SandboxId> machines;
        try (var doomed = DoomedServer.start(home)) {
            id = doomed.id();
            pid = doomed.backgroundPid();
        }
        house = House.at(home, House.plain().withPoolSize(1));
        machines = new HashSet<>(house.provider.survivors());
        Sandbox sandbox = house.sandboxes.require(THREAD);
        assertThat(sandbox.id()).isEqualTo(id);
        assertThat(output(sandbox, "cat file; kill -0 " + pid + " && echo alive"))
                .isEqualTo("kept\nalive");
        house.awaitRecovery(SandboxListener.Recovery.ADOPTED);
        await().until(() -> house.sandboxes.pool().available() == 1);
        assertThat(house.provider.survivors())
                .as("the pool's machine was taken back")
                .isEqualTo(machines);
        assertThat(machines).hasSize(2);
    }

    @Test
    void aServerThatStopsRemovesUnusedMachinesAndTheirRows() {
        house = House.at(home, House.plain().withPoolSize(2));
        await().until(() -> house.sandboxes.pool().available() == 2);
        SandboxId used = house.sandbox("t1").id();
        house.stop();
        try (var provider = provider();
                Db db = Db.sqlite(home.resolve("viv.db"))) {
            assertThat(provider.survivors()).containsExactly(used);
            assertThat(new SandboxRows(db).alive()).extracting(SandboxRow::id).containsExactly(used);
        }
        house.open(House.plain());
        assertThat(house.sandboxes.require(THREAD).id()).isEqualTo(used);
    }

    @Test
    void aMachineThatDiedWhileTheServerWasAwayComesBackWithItsWorkspace() {
        SandboxId id;
        try (var doomed = DoomedServer.start(home)) {
            id = doomed.id();
        }
        killAllGuests();
        house = House.at(home, House.plain().withPoolSize(1));
        Sandbox sandbox = house.sandboxes.require(THREAD);
        assertThat(sandbox.id()).isEqualTo(id);
        assertThat(sandbox.info().status()).isEqualTo(Status.RUNNING);
        assertThat(output(sandbox, "cat file")).isEqualTo("kept");
        house.awaitRecovery(SandboxListener.Recovery.REVIVED);
        await().until(() -> house.sandboxes.pool().available() == 1);
        await().untilAsserted(() -> assertThat(house.provider.survivors()).hasSize(2));
    }

    @Test
    void aRevivalThatFailsOnceIsTriedAgain() {
        house = House.at(home, House.plain());
        Sandbox before = house.sandbox("t1");
        output(before, "echo kept > file");
        house.stop();
        house.killGuest(before.id());
        house.open(House.plain(), provider -> provider.fail(Step.CONNECT, 2));
        assertThat(output(house.sandboxes.require(THREAD), "cat file")).isEqualTo("kept");
    }

    @Test
    void aRestartKeepsTheAbsoluteLifetime() {
        house = House.at(home, House.plain());
        Sandbox before = house.sandbox("t1");
        Instant ends = before.info().endsAt();
        house.stop();
        house.open(House.plain());
        assertThat(house.sandboxes.require(THREAD).info().endsAt()).isEqualTo(ends);
        house.stop();
        house.time.advance(Duration.ofHours(25));
        house.open(House.plain());
        failure(Failure.NoSandboxForThread.class, () -> house.sandboxes.require(THREAD));
        var gone = failure(Failure.NoSuchSandbox.class, () -> house.sandboxes.require(before.id()));
        assertThat(gone.end().orElseThrow().cause()).isEqualTo(End.Cause.LIFETIME);
        await().untilAsserted(house::assertNothingRemains);
    }

    @Test
    void theTimeOfTheLastUseIsSavedAndATimeWithoutServerIsNotIdleness() {
        house = House.at(home, House.plain());
        Sandbox before = house.sandbox("t1");
        house.time.advance(Duration.ofMinutes(20));
        before.touch();
        Instant used = before.info().lastActivity();
        house.stop();
        try (Db db = Db.sqlite(home.resolve("viv.db"))) {
            assertThat(new SandboxRows(db).find(before.id()).orElseThrow().lastActivity())
                    .isEqualTo(used);
        }
        house.time.advance(Duration.ofHours(2));
        house.open(House.plain());
        assertThat(house.sandboxes.require(THREAD).id()).isEqualTo(before.id());
    }

    @Test
    void whatTheStoreDoesNotKnowIsRemovedAndCounted() {
        SandboxId orphan = SandboxId.random(new SecureRandom());
        try (var provider = provider()) {
            provider.start(new MachineSpec(orphan, "secret", "host", Limits.STANDARD, STORE));
        }
        house = House.at(home, House.plain());
        await().untilAsserted(() -> assertThat(house.recorder.orphans).containsExactly(orphan));
        house.assertNothingRemains();
        assertThat(house.sandboxes.reconciliation().orphans()).isEqualTo(1);
    }

    @Test
    void theDiskOfASandboxThatHasEndedIsRemoved() {
        house = House.at(home, House.plain());
        Sandbox sandbox = house.sandbox("t1");
        house.awaitFirstPass();
        house.provider.fail(Step.REMOVE, 1);
        house.sandboxes.terminate(sandbox.id(), End.Cause.USER, "");
        assertThat(house.provider.survivors()).containsExactly(sandbox.id());
        house.stop();
        house.open(House.plain());
        await().untilAsserted(house::assertNothingRemains);
    }

    @Test
    void aSandboxThatWasBeingCreatedHasFailed() {
        SandboxRow row = row(Optional.of(new SandboxRow.Owner(THREAD, House.ANN)), Phase.CREATING);
        leaveBehind(row);
        house = House.at(home, House.plain());
        await().untilAsserted(house::assertNothingRemains);
        var gone = failure(Failure.NoSuchSandbox.class, () -> house.sandboxes.require(row.id()));
        assertThat(gone.end().orElseThrow().cause()).isEqualTo(End.Cause.SERVER);
        assertThat(house.sandbox("t1").info().status()).isEqualTo(Status.RUNNING);
    }

    @Test
    void machinesThatThePoolWasStartingOrHasNoRoomForAreForgotten() {
        leaveBehind(row(Optional.empty(), Phase.CREATING));
        leaveBehind(row(Optional.empty(), Phase.POOLED));
        house = House.at(home, House.plain());
        await().untilAsserted(house::assertNothingRemains);
    }

    @Test
    void othersNeedNotWaitForASandboxThatIsHardToFind() throws Exception {
        house = House.at(home, House.plain());
        Sandbox before = house.sandbox("t1");
        house.stop();
        house.open(House.plain(), provider -> provider.hold(Step.ADOPT));
        house.provider.awaitArrival(Step.ADOPT);
        assertThat(output(house.sandbox("t2"), "echo here")).isEqualTo("here");
        assertThat(house.sandboxes.list()).hasSize(2);
        house.provider.open(Step.ADOPT);
        assertThat(house.sandboxes.require(THREAD).id()).isEqualTo(before.id());
    }

    private void leaveBehind(SandboxRow row) {
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

    private static SandboxRow row(Optional<SandboxRow.Owner> owner, Phase phase) {
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
                now,
                now,
                now.plusSeconds(3600),
                Optional.empty());
    }
}
