package dev.vivarium.core.sandbox;

import static dev.vivarium.core.sandbox.TestEngine.failure;
import static dev.vivarium.core.sandbox.TestEngine.output;
import static dev.vivarium.core.sandbox.TestEngine.run;
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

/// Tests every transition of the table and fails if one was not visited. [HibernationTest] visits those of hibernation.
class LifecycleTest {
    private static final PauseReason BY_ANN = PauseReason.by(new UserId("ann"));

    private static final EnumSet<Transition> VISITED = EnumSet.noneOf(Transition.class);

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
        VISITED.addAll(engine.recorder.visited());
    }

    @AfterAll
    static void everyTransitionWasVisited() {
        assertThat(VISITED).containsAll(EnumSet.complementOf(HibernationTest.TRANSITIONS));
    }

    @Test
    void terminatedSandboxIsGoneAndItsEndIsReported() {
        Sandbox sandbox = engine.sandbox("t1");
        assertThat(sandbox.info().status()).isEqualTo(Status.RUNNING);
        assertThat(output(sandbox, "echo hello")).isEqualTo("hello");
        engine.sandboxes.terminate(sandbox.id(), End.Cause.USER, "by ann");
        engine.sandboxes.terminate(sandbox.id(), End.Cause.USER, "again");
        engine.assertNothingRemains();
        assertThat(engine.recorder.removed).hasSize(1);
        End end = sandbox.info().end().orElseThrow();
        assertThat(end.cause()).isEqualTo(End.Cause.USER);
        assertThat(end.detail()).isEqualTo("by ann");
        assertThat(failure(Failure.SandboxEnded.class, () -> run(sandbox, "true"))
                        .end())
                .isEqualTo(end);
        assertThat(failure(Failure.NoSuchSandbox.class, () -> engine.sandboxes.require(sandbox.id()))
                        .end())
                .contains(end);
        failure(Failure.NoSandboxForThread.class, () -> engine.sandboxes.require(TestEngine.thread("t1")));
    }

    @Test
    void terminatingAnUnknownSandboxSucceeds() {
        var unknown = new SandboxId("sbxaaaaaaaaaaaaaaaaaaaa");
        engine.sandboxes.terminate(unknown, End.Cause.USER, "");
        assertThat(failure(Failure.NoSuchSandbox.class, () -> engine.sandboxes.require(unknown))
                        .end())
                .isEqualTo(Optional.empty());
    }

    @Test
    void pausedSandboxStopsAndContinuesAfterResume() throws Exception {
        Sandbox sandbox = engine.sandbox("t1");
        try (var execution =
                sandbox.exec(Command.shell("echo before; while [ ! -e go ]; do sleep 0.05; done; echo after"))) {
            assertThat(execution.next()).isInstanceOf(ExecEvent.Started.class);
            assertThat(execution.next()).isInstanceOf(ExecEvent.Output.class);
            sandbox.pause(BY_ANN);
            sandbox.pause(BY_ANN);
            assertThat(sandbox.info().status()).isEqualTo(Status.PAUSED);
            var refused = failure(Failure.SandboxNotRunning.class, () -> run(sandbox, "true"));
            assertThat(refused.status()).isEqualTo(Status.PAUSED);
            Files.createFile(engine.workspace(sandbox.id()).resolve("go"));
            sandbox.resume(BY_ANN);
            sandbox.resume(BY_ANN);
            assertThat(execution.next()).isInstanceOf(ExecEvent.Output.class);
            assertThat(execution.next()).isInstanceOf(ExecEvent.Exited.class);
        }
        assertThat(output(sandbox, "echo on")).isEqualTo("on");
    }

    @Test
    void failedPauseLeavesTheSandboxRunning() {
        Sandbox sandbox = engine.sandbox("t1");
        engine.provider.fail(Step.PAUSE, 1);
        failure(Failure.ProviderFailed.class, () -> sandbox.pause(BY_ANN));
        assertThat(sandbox.info().status()).isEqualTo(Status.RUNNING);
        assertThat(engine.rowsAlive()).allMatch(row -> row.phase().name().equals("RUNNING"));
        assertThat(output(sandbox, "echo on")).isEqualTo("on");
    }

    @Test
    void failedResumeLeavesTheSandboxPaused() {
        Sandbox sandbox = engine.sandbox("t1");
        sandbox.pause(BY_ANN);
        engine.provider.fail(Step.RESUME, 1);
        failure(Failure.ProviderFailed.class, () -> sandbox.resume(BY_ANN));
        assertThat(sandbox.info().status()).isEqualTo(Status.PAUSED);
        assertThat(engine.rowsAlive()).allMatch(row -> row.phase().name().equals("PAUSED"));
        sandbox.resume(BY_ANN);
        assertThat(output(sandbox, "echo on")).isEqualTo("on");
    }

    @Test
    void pausedSandboxCanBeTerminated() {
        Sandbox sandbox = engine.sandbox("t1");
        sandbox.pause(BY_ANN);
        engine.sandboxes.terminate(sandbox.id(), End.Cause.USER, "");
        engine.assertNothingRemains();
    }

    @Test
    void machineThatDiesWhilePausedIsRemoved() {
        Sandbox sandbox = engine.sandbox("t1");
        sandbox.pause(BY_ANN);
        engine.killGuest(sandbox.id());
        await().until(() -> sandbox.info().status() == Status.FAILED);
        assertThat(sandbox.info().end().orElseThrow().cause()).isEqualTo(End.Cause.CRASH);
        await().untilAsserted(engine::assertNothingRemains);
    }

    @Test
    void pausedMachineIsRemovedIfItsStreamEndsBeforeItDies() {
        Sandbox sandbox = engine.sandbox("t1");
        sandbox.pause(BY_ANN);
        engine.provider.seemAlive(20);
        engine.killGuest(sandbox.id());
        await().until(() -> sandbox.info().status() == Status.FAILED);
        await().untilAsserted(engine::assertNothingRemains);
    }

    @Test
    void brokenStreamIsReconnectedAndProcessesContinue() {
        Sandbox sandbox = engine.sandbox("t1");
        String pid = output(sandbox, "sleep 1000 >/dev/null 2>&1 & echo $!");
        breakStream(sandbox);
        assertThat(output(sandbox, "kill -0 " + pid + " && echo alive")).isEqualTo("alive");
        engine.awaitRecovery(SandboxListener.Recovery.RECONNECTED);
        assertThat(sandbox.info().status()).isEqualTo(Status.RUNNING);
    }

    @Test
    void callFailsWithTheCauseOfTheCrash() {
        Sandbox sandbox = engine.sandbox("t1");
        try (var execution = sandbox.exec(Command.shell("echo on; sleep 1000"))) {
            execution.next();
            execution.next();
            engine.killGuest(sandbox.id());
            var ended = failure(Failure.SandboxEnded.class, execution::next);
            assertThat(ended.end().cause()).isEqualTo(End.Cause.CRASH);
            assertThat(ended.id()).isEqualTo(sandbox.id());
        }
        await().untilAsserted(engine::assertNothingRemains);
        assertThat(engine.sandboxes.find(TestEngine.thread("t1"))).isEmpty();
    }

    @Test
    void machineKilledForMemoryReportsOom() {
        Sandbox sandbox = engine.sandbox("t1");
        engine.provider.oomKills = 1;
        engine.killGuest(sandbox.id());
        await().until(() -> sandbox.info().end().isPresent());
        assertThat(sandbox.info().end().orElseThrow().cause()).isEqualTo(End.Cause.OOM);
    }

    @Test
    void commandKilledWhileTheKernelCounterGrowsReportsOom() throws Exception {
        Sandbox sandbox = engine.sandbox("t1");
        assertThat(run(sandbox, "kill -9 $$").exit().cause()).isEqualTo(Exit.Cause.SIGNALLED);
        try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
            var victim = callers.submit(
                    () -> run(sandbox, "touch started; until [ -e go ]; do sleep 0.02; done; kill -9 $$"));
            await().until(() -> output(sandbox, "ls").contains("started"));
            engine.provider.oomKills = 2;
            run(sandbox, "touch go");
            assertThat(victim.get().exit().cause()).isEqualTo(Exit.Cause.OOM);
        }
        assertThat(run(sandbox, "kill -9 $$").exit().cause())
                .as("a later command")
                .isEqualTo(Exit.Cause.SIGNALLED);
        assertThat(run(sandbox, "exit 9").exit().cause()).isEqualTo(Exit.Cause.EXITED);
    }

    @Test
    void quarantinedSandboxHasFailed() {
        Sandbox sandbox = engine.sandbox("t1");
        engine.sandboxes.terminate(sandbox.id(), End.Cause.QUARANTINED, "by the guardian");
        assertThat(sandbox.info().status()).isEqualTo(Status.FAILED);
        engine.assertNothingRemains();
    }

    @Test
    void sandboxCanBeTerminatedDuringItsCreation() throws Exception {
        engine.provider.hold(Step.AFTER_START);
        try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<Sandbox> creation = callers.submit(() -> engine.sandbox("t1"));
            engine.provider.awaitArrival(Step.AFTER_START);
            var creating = engine.sandboxes.list().getFirst();
            assertThat(creating.status()).isEqualTo(Status.CREATING);
            Future<?> termination =
                    callers.submit(() -> engine.sandboxes.terminate(creating.id(), End.Cause.USER, "changed my mind"));
            await().until(() -> engine.sandboxes.list().isEmpty());
            engine.provider.open(Step.AFTER_START);
            termination.get();
            failure(Failure.SandboxEnded.class, () -> unwrap(creation));
        }
        engine.assertNothingRemains();
    }

    @Test
    void failedStartLeavesNothing() {
        engine.provider.fail(Step.START, 1);
        failure(Failure.ProviderFailed.class, () -> engine.sandbox("t1"));
        engine.assertNothingRemains();
        assertThat(output(engine.sandbox("t1"), "echo again")).isEqualTo("again");
    }

    @Test
    void pausedSandboxStaysPausedAfterARestart() {
        Sandbox before = engine.sandbox("t1");
        String pid = output(before, "sleep 1000 >/dev/null 2>&1 & echo $!");
        before.pause(BY_ANN);
        engine.stop();
        engine.open(TestEngine.plain());
        Sandbox sandbox = engine.sandboxes.require(TestEngine.thread("t1"));
        assertThat(sandbox.id()).isEqualTo(before.id());
        assertThat(sandbox.info().status()).isEqualTo(Status.PAUSED);
        sandbox.resume(BY_ANN);
        assertThat(output(sandbox, "kill -0 " + pid + " && echo alive")).isEqualTo("alive");
    }

    @Test
    void sandboxWithoutMachineAndDiskFailsAfterARestart() {
        SandboxId id = engine.sandbox("t1").id();
        engine.stop();
        engine.open(TestEngine.plain(), provider -> provider.remove(id, Disk.ERASE));
        failure(Failure.NoSandboxForThread.class, () -> engine.sandboxes.require(TestEngine.thread("t1")));
        await().untilAsserted(() -> assertThat(failure(Failure.NoSuchSandbox.class, () -> engine.sandboxes.require(id))
                        .end()
                        .orElseThrow()
                        .cause())
                .isEqualTo(End.Cause.HOST_RESTART));
    }

    @Test
    void sandboxCanBeTerminatedDuringItsRecovery() throws Exception {
        SandboxId id = engine.sandbox("t1").id();
        engine.stop();
        engine.open(TestEngine.plain(), provider -> provider.hold(Step.ADOPT));
        engine.provider.awaitArrival(Step.ADOPT);
        engine.sandboxes.terminate(id, End.Cause.USER, "not needed any more");
        engine.provider.open(Step.ADOPT);
        await().untilAsserted(engine::assertNothingRemains);
        assertThat(engine.sandboxes
                        .open(NewSandbox.of(TestEngine.ANN, new ThreadId("t1")))
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
