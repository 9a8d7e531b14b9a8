package dev.vivarium.core.sandbox;

import static dev.vivarium.core.sandbox.TestEngine.failure;
import static dev.vivarium.core.sandbox.TestEngine.output;
import static dev.vivarium.core.sandbox.TestEngine.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.provider.HostProcess;
import dev.vivarium.core.sandbox.FaultyProvider.Step;
import dev.vivarium.core.store.SnapshotRows;
import dev.vivarium.model.Command;
import dev.vivarium.model.End;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Limits;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SnapshotId;
import dev.vivarium.model.SnapshotInfo;
import dev.vivarium.model.Status;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Executors;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SnapshotsTest {
    private static final PauseReason BY_ANN = PauseReason.by(new UserId("ann"));

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

    private Snapshots snapshots() {
        return engine.sandboxes.snapshots();
    }

    private static NewSandbox request(String thread) {
        return NewSandbox.of(TestEngine.ANN, new ThreadId(thread));
    }

    @Test
    void pauseWaitsForARunningSnapshot() throws Exception {
        Sandbox sandbox = engine.sandbox("t1");
        engine.provider.hold(Step.SNAPSHOT);
        try (var workers = Executors.newVirtualThreadPerTaskExecutor()) {
            var taking = workers.submit(() -> snapshots().take(sandbox, "slow"));
            engine.provider.awaitArrival(Step.SNAPSHOT);

            assertThat(sandbox.lifecycle().tryBegin(Transition.PAUSE, Duration.ZERO))
                    .isEmpty();
            assertThat(sandbox.info().status()).isEqualTo(Status.RUNNING);

            engine.provider.open(Step.SNAPSHOT);
            assertThat(taking.get().name()).isEqualTo("slow");
        }
        sandbox.pause(BY_ANN);
        assertThat(sandbox.info().status()).isEqualTo(Status.PAUSED);
    }

    @Test
    void restoreKeepsTheIdAndBringsBackTheFiles() {
        Sandbox sandbox = engine.sandbox("t");
        run(sandbox, "echo before > file");
        SnapshotInfo snapshot = snapshots().take(sandbox, "good");
        run(sandbox, "echo after > file; echo more > more");

        snapshots().restore(sandbox, snapshot);

        assertThat(sandbox.info().status()).isEqualTo(Status.RUNNING);
        assertThat(engine.sandboxes.require(TestEngine.thread("t"))).isSameAs(sandbox);
        assertThat(output(sandbox, "cat file; ls")).isEqualTo("before\nfile");
        assertThat(engine.recorder.recoveries).containsExactly(SandboxListener.Recovery.RESTORED);
    }

    @Test
    void providerWithoutSnapshotsRejectsThemBeforeAnyChange() {
        Sandbox sandbox = engine.sandbox("t");
        SnapshotInfo snapshot = snapshots().take(sandbox, "");
        String process = output(sandbox, "sleep 1000 >/dev/null 2>&1 & echo $!");
        engine.provider.keepsSnapshots = false;

        for (ThrowingCallable call : List.<ThrowingCallable>of(
                () -> snapshots().take(sandbox, ""),
                () -> snapshots().restore(sandbox, snapshot),
                () -> engine.sandboxes.fork(request("another"), snapshot))) {
            assertThat(failure(Failure.Unsupported.class, call).why()).contains("does not keep snapshots");
        }

        assertThat(HostProcess.isAlive(Long.parseLong(process))).isTrue();
        assertThat(snapshots().list(sandbox.owner())).containsExactly(snapshot);
    }

    @Test
    void snapshotKeepsProcessesAndRestoreEndsThem() {
        Sandbox sandbox = engine.sandbox("t");
        try (var execution = sandbox.exec(Command.shell("echo $$ > pid; exec sleep 1000"))) {
            execution.detach();
        }
        await().until(() -> run(sandbox, "test -s pid").exitCode() == 0);
        long pid = Long.parseLong(output(sandbox, "cat pid"));
        SnapshotInfo snapshot = snapshots().take(sandbox, "");
        assertThat(HostProcess.isAlive(pid)).isTrue();

        snapshots().restore(sandbox, snapshot);

        assertThat(HostProcess.isAlive(pid)).isFalse();
    }

    @Test
    void deletedSnapshotIsNotRestoredAndProcessesContinue() {
        Sandbox sandbox = engine.sandbox("t");
        run(sandbox, "echo here > file");
        SnapshotInfo snapshot = snapshots().take(sandbox, "");
        snapshots().delete(snapshot);
        try (var execution = sandbox.exec(Command.shell("exec sleep 1000"))) {
            failure(Failure.NoSuchSnapshot.class, () -> snapshots().restore(sandbox, snapshot));
            failure(Failure.NoSuchSnapshot.class, () -> engine.sandboxes.fork(request("f"), snapshot));

            assertThat(HostProcess.isAlive(execution.pid())).isTrue();
        }
        assertThat(output(sandbox, "cat file")).isEqualTo("here");
    }

    @Test
    void filesOfADeletedSnapshotStayWhileInUse() {
        Sandbox sandbox = engine.sandbox("t");
        SnapshotInfo snapshot = snapshots().take(sandbox, "");
        try (var _ = snapshots().use(snapshot)) {
            snapshots().delete(snapshot);
            snapshots().reconcile();
            assertThat(engine.provider.snapshots()).contains(snapshot.id());
        }

        snapshots().reconcile();

        assertThat(engine.provider.snapshots()).isEmpty();
    }

    @Test
    void pausedSandboxStaysPausedAfterASnapshot() {
        Sandbox sandbox = engine.sandbox("t");
        run(sandbox, "echo before > file");
        sandbox.pause(BY_ANN);
        SnapshotInfo snapshot = snapshots().take(sandbox, "");
        assertThat(sandbox.info().status()).isEqualTo(Status.PAUSED);

        snapshots().restore(sandbox, snapshot);

        assertThat(output(sandbox, "cat file")).isEqualTo("before");
    }

    @Test
    void forkSharesOnlyTheFilesOfTheSnapshot() {
        Sandbox sandbox = engine.sandbox("t");
        run(sandbox, "echo origin > file");
        SnapshotInfo snapshot = snapshots().take(sandbox, "");
        Sandbox fork = engine.sandboxes.fork(request("other"), snapshot);
        run(fork, "echo fork > file");
        run(sandbox, "echo own > file");

        assertThat(output(fork, "cat file")).isEqualTo("fork");
        assertThat(output(sandbox, "cat file")).isEqualTo("own");
        assertThat(fork.id()).isNotEqualTo(sandbox.id());
        assertThat(output(engine.sandboxes.fork(request("third"), snapshot), "cat file"))
                .isEqualTo("origin");
    }

    @Test
    void forkNeedsAThreadWithoutASandbox() {
        Sandbox sandbox = engine.sandbox("t");
        SnapshotInfo snapshot = snapshots().take(sandbox, "");
        failure(Failure.ThreadHasSandbox.class, () -> engine.sandboxes.fork(request("t"), snapshot));
        var requestOfBob = NewSandbox.of(new UserId("bob"), new ThreadId("t"));
        assertThat(engine.sandboxes.fork(requestOfBob, snapshot).info().status())
                .isEqualTo(Status.RUNNING);
        engine.sandboxes.terminate(sandbox.id(), End.Cause.USER, "done");
        assertThat(engine.sandboxes.fork(request("t"), snapshot).info().status())
                .isEqualTo(Status.RUNNING);
    }

    @Test
    void snapshotsSurviveTheSandboxAndTheServer() {
        Sandbox sandbox = engine.sandbox("t");
        run(sandbox, "echo kept > file");
        SnapshotInfo snapshot = snapshots().take(sandbox, "name");
        engine.sandboxes.terminate(sandbox.id(), End.Cause.USER, "done");
        engine.stop();
        engine.open(TestEngine.plain());

        assertThat(snapshots().list(TestEngine.thread("t"))).containsExactly(snapshot);
        assertThat(output(engine.sandboxes.fork(request("t"), snapshot), "cat file"))
                .isEqualTo("kept");
    }

    @Test
    void deletedSnapshotIsNeitherListedNorKept() {
        SnapshotInfo snapshot = snapshots().take(engine.sandbox("t"), "");
        snapshots().delete(snapshot);
        assertThat(snapshots().list(snapshot.key())).isEmpty();
        assertThat(engine.provider.snapshots()).isEmpty();
        failure(
                Failure.NoSuchSnapshot.class,
                () -> snapshots().require(snapshot.key(), snapshot.id().value()));
    }

    @Test
    void snapshotIsFoundByItsOwnThreadOnly() {
        SnapshotInfo snapshot = snapshots().take(engine.sandbox("t"), "");
        assertThat(snapshots().require(snapshot.key(), snapshot.id().value())).isEqualTo(snapshot);
        failure(
                Failure.NoSuchSnapshot.class,
                () -> snapshots()
                        .require(TestEngine.thread("other"), snapshot.id().value()));
        failure(Failure.NoSuchSnapshot.class, () -> snapshots().require(snapshot.key(), "../etc"));
    }

    @Test
    void numberOfSnapshotsPerThreadIsLimited() {
        Sandbox sandbox = engine.sandbox("t");
        var rows = new SnapshotRows(engine.db);
        var random = new Random(1);
        for (int i = 0; i < Snapshots.PER_THREAD; i++) {
            rows.insert(new SnapshotInfo(
                    SnapshotId.random(random),
                    TestEngine.thread("t"),
                    sandbox.id(),
                    "",
                    0,
                    0,
                    Instant.EPOCH,
                    Optional.empty()));
        }
        failure(Failure.TooManySnapshots.class, () -> snapshots().take(sandbox, ""));
    }

    @Test
    void failedSnapshotLeavesNothingAndTheSandboxRuns() {
        Sandbox sandbox = engine.sandbox("t");
        engine.provider.fail(Step.SNAPSHOT, 1);
        failure(Failure.ProviderFailed.class, () -> snapshots().take(sandbox, ""));
        assertThat(engine.provider.snapshots()).isEmpty();
        assertThat(snapshots().list(TestEngine.thread("t"))).isEmpty();
        assertThat(output(sandbox, "echo awake")).isEqualTo("awake");
    }

    @Test
    void failedRestoreLeavesTheFilesUnchanged() {
        Sandbox sandbox = engine.sandbox("t");
        SnapshotInfo snapshot = snapshots().take(sandbox, "");
        run(sandbox, "echo own > file");
        engine.provider.fail(Step.RESTORE, 1);
        failure(Failure.ProviderFailed.class, () -> snapshots().restore(sandbox, snapshot));
        assertThat(output(sandbox, "cat file")).isEqualTo("own");
    }

    @Test
    void failedForkLeavesNothing() {
        SnapshotInfo snapshot = snapshots().take(engine.sandbox("t"), "");
        engine.provider.fail(Step.RESTORE, 1);
        failure(Failure.ProviderFailed.class, () -> engine.sandboxes.fork(request("other"), snapshot));
        assertThat(engine.sandboxes.find(TestEngine.thread("other"))).isEmpty();
        assertThat(engine.provider.survivors()).hasSize(1);
    }

    @Test
    void snapshotFilesWithoutARowAreRemoved() {
        Sandbox sandbox = engine.sandbox("t");
        SnapshotInfo kept = snapshots().take(sandbox, "");
        SandboxId id = sandbox.id();
        engine.provider.snapshot(id, SnapshotId.random(new Random(2)));
        snapshots().reconcile();
        assertThat(engine.provider.snapshots()).containsExactly(kept.id());
    }

    @Test
    void snapshotOfAnotherDiskSizeCanBeForkedOnly() {
        Limits large = new Limits(Limits.STANDARD.memoryBytes(), 1, 64, Limits.STANDARD.diskBytes() * 2);
        Sandbox sandbox = engine.sandboxes.open(request("t").withLimits(large)).sandbox();
        SnapshotInfo snapshot = snapshots().take(sandbox, "");
        engine.sandboxes.terminate(sandbox.id(), End.Cause.USER, "done");
        Sandbox small = engine.sandbox("t");
        failure(Failure.Unsupported.class, () -> snapshots().restore(small, snapshot));
        Sandbox fork = engine.sandboxes.fork(request("other"), snapshot);
        assertThat(fork.info().limits().diskBytes()).isEqualTo(large.diskBytes());
    }

    @Test
    void endedSandboxCannotBeSnapshotted() {
        Sandbox sandbox = engine.sandbox("t");
        engine.sandboxes.terminate(sandbox.id(), End.Cause.USER, "done");
        failure(Failure.SandboxEnded.class, () -> snapshots().take(sandbox, ""));
        assertThat(engine.provider.snapshots()).isEmpty();
    }
}
