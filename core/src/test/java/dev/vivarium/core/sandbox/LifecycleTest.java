package dev.vivarium.core.sandbox;

import static dev.vivarium.core.sandbox.House.failure;
import static dev.vivarium.core.sandbox.House.output;
import static dev.vivarium.core.sandbox.House.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.provider.Provider.Disk;
import dev.vivarium.core.sandbox.FaultyProvider.Step;
import dev.vivarium.model.Command;
import dev.vivarium.model.End;
import dev.vivarium.model.ExecEvent;
import dev.vivarium.model.Exit;
import dev.vivarium.model.Failure;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.Status;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Takes sandboxes through every step of the table, and fails if one was left out.
class LifecycleTest {
    private static final PauseReason ASKED = PauseReason.by(new UserId("ann"));

    private static final EnumSet<Transition> VISITED = EnumSet.noneOf(Transition.class);

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
        VISITED.addAll(house.recorder.visited());
    }

    @AfterAll
    static void everyStepOfTheTableWasTaken() {
        assertThat(VISITED).isEqualTo(EnumSet.allOf(Transition.class));
    }

    @Test
    void aSandboxRunsCommandsAndIsGoneAfterItsEnd() {
        Sandbox sandbox = house.sandbox("t1");
        assertThat(sandbox.info().status()).isEqualTo(Status.RUNNING);
        assertThat(output(sandbox, "echo hello")).isEqualTo("hello");
        house.sandboxes.terminate(sandbox.id(), End.Cause.USER, "by ann");
        house.sandboxes.terminate(sandbox.id(), End.Cause.USER, "again");
        house.assertNothingRemains();
        assertThat(house.recorder.removed).hasSize(1);
        End end = sandbox.info().end().orElseThrow();
        assertThat(end.cause()).isEqualTo(End.Cause.USER);
        assertThat(end.detail()).isEqualTo("by ann");
        assertThat(failure(Failure.SandboxEnded.class, () -> run(sandbox, "true"))
                        .end())
                .isEqualTo(end);
        assertThat(failure(Failure.NoSuchSandbox.class, () -> house.sandboxes.require(sandbox.id()))
                        .end())
                .contains(end);
        failure(Failure.NoSandboxForThread.class, () -> house.sandboxes.require(new ThreadId("t1")));
    }

    @Test
    void anUnknownSandboxCanBeTerminatedAndIsNotFound() {
        var unknown = new SandboxId("sbxaaaaaaaaaaaaaaaaaaaa");
        house.sandboxes.terminate(unknown, End.Cause.USER, "");
        assertThat(failure(Failure.NoSuchSandbox.class, () -> house.sandboxes.require(unknown))
                        .end())
                .isEqualTo(Optional.empty());
    }

    @Test
    void aPausedSandboxStandsStillAndGoesOnWhereItWas() throws Exception {
        Sandbox sandbox = house.sandbox("t1");
        try (var execution =
                sandbox.exec(Command.shell("echo before; while [ ! -e go ]; do sleep 0.05; done; echo after"))) {
            assertThat(execution.next()).isInstanceOf(ExecEvent.Started.class);
            assertThat(execution.next()).isInstanceOf(ExecEvent.Output.class);
            sandbox.pause(ASKED);
            sandbox.pause(ASKED);
            assertThat(sandbox.info().status()).isEqualTo(Status.PAUSED);
            var refused = failure(Failure.SandboxNotRunning.class, () -> run(sandbox, "true"));
            assertThat(refused.status()).isEqualTo(Status.PAUSED);
            Files.createFile(house.workspace(sandbox.id()).resolve("go"));
            sandbox.resume(ASKED);
            sandbox.resume(ASKED);
            assertThat(execution.next()).isInstanceOf(ExecEvent.Output.class);
            assertThat(execution.next()).isInstanceOf(ExecEvent.Exited.class);
        }
        assertThat(output(sandbox, "echo on")).isEqualTo("on");
    }

    @Test
    void aPauseThatFailsLeavesTheSandboxRunning() {
        Sandbox sandbox = house.sandbox("t1");
        house.provider.fail(Step.PAUSE, 1);
        failure(Failure.ProviderFailed.class, () -> sandbox.pause(ASKED));
        assertThat(sandbox.info().status()).isEqualTo(Status.RUNNING);
        assertThat(house.rowsAlive()).allMatch(row -> row.phase().name().equals("RUNNING"));
        assertThat(output(sandbox, "echo on")).isEqualTo("on");
    }

    @Test
    void aResumeThatFailsLeavesTheSandboxPaused() {
        Sandbox sandbox = house.sandbox("t1");
        sandbox.pause(ASKED);
        house.provider.fail(Step.RESUME, 1);
        failure(Failure.ProviderFailed.class, () -> sandbox.resume(ASKED));
        assertThat(sandbox.info().status()).isEqualTo(Status.PAUSED);
        assertThat(house.rowsAlive()).allMatch(row -> row.phase().name().equals("PAUSED"));
        sandbox.resume(ASKED);
        assertThat(output(sandbox, "echo on")).isEqualTo("on");
    }

    @Test
    void aPausedSandboxCanBeEnded() {
        Sandbox sandbox = house.sandbox("t1");
        sandbox.pause(ASKED);
        house.sandboxes.terminate(sandbox.id(), End.Cause.USER, "");
        house.assertNothingRemains();
    }

    @Test
    void aMachineThatDiesDuringAPauseIsBuried() {
        Sandbox sandbox = house.sandbox("t1");
        sandbox.pause(ASKED);
        house.killGuest(sandbox.id());
        await().until(() -> sandbox.info().status() == Status.FAILED);
        assertThat(sandbox.info().end().orElseThrow().cause()).isEqualTo(End.Cause.CRASH);
        await().untilAsserted(house::assertNothingRemains);
    }

    @Test
    void aMachineWhoseStreamEndsDuringAPauseBeforeItIsDeadIsBuriedToo() {
        Sandbox sandbox = house.sandbox("t1");
        sandbox.pause(ASKED);
        house.provider.seemAlive(20);
        house.killGuest(sandbox.id());
        await().until(() -> sandbox.info().status() == Status.FAILED);
        await().untilAsserted(house::assertNothingRemains);
    }

    @Test
    void aStreamThatBreaksIsMadeAnewAndProcessesGoOn() {
        Sandbox sandbox = house.sandbox("t1");
        String pid = output(sandbox, "sleep 1000 >/dev/null 2>&1 & echo $!");
        breakStream(sandbox);
        assertThat(output(sandbox, "kill -0 " + pid + " && echo alive")).isEqualTo("alive");
        house.awaitRecovery(SandboxListener.Recovery.RECONNECTED);
        assertThat(sandbox.info().status()).isEqualTo(Status.RUNNING);
    }

    @Test
    void theCallThatFailsWhenTheMachineDiesSaysWhy() {
        Sandbox sandbox = house.sandbox("t1");
        try (var execution = sandbox.exec(Command.shell("echo on; sleep 1000"))) {
            execution.next();
            execution.next();
            house.killGuest(sandbox.id());
            var ended = failure(Failure.SandboxEnded.class, execution::next);
            assertThat(ended.end().cause()).isEqualTo(End.Cause.CRASH);
            assertThat(ended.id()).isEqualTo(sandbox.id());
        }
        await().untilAsserted(house::assertNothingRemains);
        assertThat(house.sandboxes.find(new ThreadId("t1"))).isEmpty();
    }

    @Test
    void aMachineThatDiesForWantOfMemorySaysSo() {
        Sandbox sandbox = house.sandbox("t1");
        house.provider.oomKills = 1;
        house.killGuest(sandbox.id());
        await().until(() -> sandbox.info().end().isPresent());
        assertThat(sandbox.info().end().orElseThrow().cause()).isEqualTo(End.Cause.OOM);
    }

    @Test
    void aKilledCommandIsExplainedByTheKernelsCount() {
        Sandbox sandbox = house.sandbox("t1");
        assertThat(run(sandbox, "kill -9 $$").exit().cause()).isEqualTo(Exit.Cause.SIGNALLED);
        house.provider.oomKills = 2;
        assertThat(run(sandbox, "kill -9 $$").exit().cause()).isEqualTo(Exit.Cause.OOM);
        house.time.advance(Duration.ofSeconds(3));
        assertThat(run(sandbox, "kill -9 $$").exit().cause()).isEqualTo(Exit.Cause.SIGNALLED);
        assertThat(run(sandbox, "exit 9").exit().cause()).isEqualTo(Exit.Cause.EXITED);
    }

    @Test
    void aSandboxThatIsPutAwayByTheServerHasFailed() {
        Sandbox sandbox = house.sandbox("t1");
        house.sandboxes.terminate(sandbox.id(), End.Cause.QUARANTINED, "by the guardian");
        assertThat(sandbox.info().status()).isEqualTo(Status.FAILED);
        house.assertNothingRemains();
    }

    @Test
    void aSandboxCanBeEndedWhileItIsBeingCreated() throws Exception {
        house.provider.hold(Step.AFTER_START);
        try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<Sandbox> creation = callers.submit(() -> house.sandbox("t1"));
            house.provider.awaitArrival(Step.AFTER_START);
            var creating = house.sandboxes.list().getFirst();
            assertThat(creating.status()).isEqualTo(Status.CREATING);
            Future<?> termination =
                    callers.submit(() -> house.sandboxes.terminate(creating.id(), End.Cause.USER, "changed my mind"));
            await().until(() -> house.sandboxes.list().isEmpty());
            house.provider.open(Step.AFTER_START);
            termination.get();
            failure(Failure.SandboxEnded.class, () -> unwrap(creation));
        }
        house.assertNothingRemains();
    }

    @Test
    void aStartThatFailsLeavesNothing() {
        house.provider.fail(Step.START, 1);
        failure(Failure.ProviderFailed.class, () -> house.sandbox("t1"));
        house.assertNothingRemains();
        assertThat(output(house.sandbox("t1"), "echo again")).isEqualTo("again");
    }

    @Test
    void aPausedSandboxIsFoundPausedAfterARestartAndResumes() {
        Sandbox before = house.sandbox("t1");
        String pid = output(before, "sleep 1000 >/dev/null 2>&1 & echo $!");
        before.pause(ASKED);
        house.stop();
        house.open(House.plain());
        Sandbox sandbox = house.sandboxes.require(new ThreadId("t1"));
        assertThat(sandbox.id()).isEqualTo(before.id());
        assertThat(sandbox.info().status()).isEqualTo(Status.PAUSED);
        sandbox.resume(ASKED);
        assertThat(output(sandbox, "kill -0 " + pid + " && echo alive")).isEqualTo("alive");
    }

    @Test
    void aSandboxWithoutMachineAndDiskHasFailedAfterARestart() {
        SandboxId id = house.sandbox("t1").id();
        house.stop();
        house.open(House.plain(), provider -> provider.remove(id, Disk.ERASE));
        failure(Failure.NoSandboxForThread.class, () -> house.sandboxes.require(new ThreadId("t1")));
        await().untilAsserted(() -> assertThat(failure(Failure.NoSuchSandbox.class, () -> house.sandboxes.require(id))
                        .end()
                        .orElseThrow()
                        .cause())
                .isEqualTo(End.Cause.HOST_RESTART));
    }

    @Test
    void aSandboxCanBeEndedWhileItIsLookedFor() throws Exception {
        SandboxId id = house.sandbox("t1").id();
        house.stop();
        house.open(House.plain(), provider -> provider.hold(Step.ADOPT));
        house.provider.awaitArrival(Step.ADOPT);
        house.sandboxes.terminate(id, End.Cause.USER, "not needed any more");
        house.provider.open(Step.ADOPT);
        await().untilAsserted(house::assertNothingRemains);
        assertThat(house.sandboxes
                        .open(NewSandbox.of(House.ANN, new ThreadId("t1")))
                        .created())
                .isTrue();
    }

    private static void breakStream(Sandbox sandbox) {
        ((State.Running) sandbox.lifecycle().state()).guest().close();
    }

    private static Object unwrap(Future<?> future) throws Throwable {
        try {
            return future.get();
        } catch (ExecutionException e) {
            throw e.getCause() instanceof SandboxException failed ? failed : e;
        }
    }
}
