package dev.vivarium.core.sandbox;

import static dev.vivarium.core.sandbox.TestEngine.failure;
import static dev.vivarium.core.sandbox.TestEngine.output;
import static dev.vivarium.core.sandbox.TestEngine.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.exec.Execution;
import dev.vivarium.core.exec.ManagedProcess;
import dev.vivarium.core.exec.Processes;
import dev.vivarium.core.inside.InsideConnection;
import dev.vivarium.core.sandbox.FaultyProvider.Step;
import dev.vivarium.core.shell.TerminalSize;
import dev.vivarium.model.Command;
import dev.vivarium.model.End;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Limits;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.ProcessInfo;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SandboxesTest {
    private static final Limits SMALL = new Limits(64L << 20, 0.5, 32, Limits.STANDARD.diskBytes());

    @TempDir
    Path home;

    private TestEngine engine;

    @AfterEach
    void close() {
        engine.close();
    }

    @Test
    void concurrentOpensOfAThreadShareOneSandbox() throws Exception {
        open(TestEngine.plain());
        var opened = atOnce(20, i -> engine.sandboxes.open(NewSandbox.of(TestEngine.ANN, new ThreadId("t1"))));
        assertThat(opened.stream().filter(OpenResult::created)).hasSize(1);
        assertThat(opened.stream().map(each -> each.sandbox().id()).distinct()).hasSize(1);
        assertThat(engine.sandboxes.list()).hasSize(1);
        assertThat(engine.provider.survivors()).hasSize(1);
    }

    @Test
    void concurrentOpensAllReceiveTheFailure() throws Exception {
        open(TestEngine.plain());
        engine.provider.fail(Step.START, 1000);
        var failures = atOnce(10, i -> failure(Failure.ProviderFailed.class, () -> engine.sandbox("t1")));
        assertThat(failures).hasSize(10);
        engine.assertNothingRemains();
    }

    @Test
    void threadsOfTheSameNameOfTwoUsersHaveSandboxesOfTheirOwn() {
        open(TestEngine.plain());
        Sandbox ofAnn = engine.sandbox("t1");
        var requestOfBob = NewSandbox.of(new UserId("bob"), new ThreadId("t1"));
        Sandbox ofBob = engine.sandboxes.open(requestOfBob).sandbox();
        assertThat(ofBob.id()).isNotEqualTo(ofAnn.id());
        run(ofAnn, "echo ann > file");
        assertThat(output(ofBob, "ls")).isEmpty();
        engine.sandboxes.terminate(ofAnn.id(), End.Cause.USER, "");
        assertThat(engine.sandboxes.find(ofAnn.info().key())).isEmpty();
        assertThat(engine.sandboxes.find(requestOfBob.key())).contains(ofBob);
    }

    @Test
    void concurrentUsersDoNotShareANewThread() throws Exception {
        open(TestEngine.plain());
        var outcomes = atOnce(10, i -> {
            var user = new UserId(i % 2 == 0 ? "ann" : "bob");
            SandboxInfo info = engine.sandboxes
                    .open(NewSandbox.of(user, new ThreadId("t1")))
                    .sandbox()
                    .info();
            return info.user() + " " + info.id();
        });
        assertThat(new HashSet<>(outcomes)).hasSize(2);
        assertThat(outcomes).extracting(outcome -> outcome.substring(0, 3)).contains("ann", "bob");
    }

    @Test
    void commandsInheritAndOverrideTheSandboxEnvironment() {
        open(TestEngine.plain());
        Sandbox sandbox = engine.sandboxes
                .open(NewSandbox.of(TestEngine.ANN, new ThreadId("t1")).withEnv(Map.of("A", "one", "B", "two")))
                .sandbox();
        try (var execution = sandbox.exec(Command.shell("echo $A $B").withEnv(Map.of("B", "three")))) {
            assertThat(execution.collect().stdout()).isEqualTo("one three\n");
        }
    }

    @Test
    void commandsBeyondTheLimitAreRejectedUntilOneEnds() {
        open(TestEngine.plain());
        Sandbox sandbox = engine.sandbox("t1");
        var running = new ArrayList<Execution>();
        for (int i = 0; i < TestEngine.plain().room().commands(); i++) {
            running.add(sandbox.exec(Command.of("sleep", "1000")));
        }
        failure(Failure.TooManyCommands.class, () -> run(sandbox, "true"));
        running.getFirst().close();
        await().until(() -> hasRoom(sandbox));
        running.forEach(each -> each.close());
    }

    @Test
    void poolHandsOutEachMachineOnceAndIsRefilled() throws Exception {
        open(TestEngine.plain().withPoolSize(3));
        awaitPool(3);
        var ids = atOnce(3, i -> engine.sandbox("t" + i).id());
        assertThat(ids).doesNotHaveDuplicates();
        assertThat(engine.recorder.origins).containsOnly(SandboxListener.Origin.WARM);
        awaitPool(3);
        var more = atOnce(3, i -> engine.sandbox("u" + i).id());
        assertThat(more).doesNotContainAnyElementsOf(ids);
    }

    @Test
    void pooledMachineGetsTheRequestedLimitsAndEnvironment() {
        open(TestEngine.plain().withPoolSize(1));
        awaitPool(1);
        Sandbox sandbox = engine.sandboxes
                .open(NewSandbox.of(TestEngine.ANN, new ThreadId("t1"))
                        .withLimits(SMALL)
                        .withIdleTimeout(Duration.ofMinutes(5))
                        .withEnv(Map.of("WHO", "ann")))
                .sandbox();
        assertThat(engine.recorder.origins).containsExactly(SandboxListener.Origin.WARM);
        assertThat(engine.provider.limitsGiven).containsExactly(SMALL);
        assertThat(sandbox.info().limits()).isEqualTo(SMALL);
        assertThat(Duration.between(
                        sandbox.info().lastActivity(), sandbox.info().expiresAt()))
                .isEqualTo(Duration.ofMinutes(5));
        assertThat(output(sandbox, "echo $WHO")).isEqualTo("ann");
        assertThat(engine.rowsAlive())
                .filteredOn(row -> row.id().equals(sandbox.id()))
                .allMatch(row -> row.limits().equals(SMALL) && row.env().equals(Map.of("WHO", "ann")));
    }

    @Test
    void differentDiskSizeNeedsAColdStart() {
        open(TestEngine.plain().withPoolSize(1));
        awaitPool(1);
        var other = new Limits(64L << 20, 1, 32, 32L << 20);
        engine.sandboxes.open(NewSandbox.of(TestEngine.ANN, new ThreadId("t1")).withLimits(other));
        assertThat(engine.recorder.origins).containsExactly(SandboxListener.Origin.COLD);
    }

    @Test
    void missingImageIsRejectedBeforeTheCreation() {
        open(TestEngine.plain());
        var request = NewSandbox.of(TestEngine.ANN, new ThreadId("t1")).withImage("no-such-image");
        var refused = failure(Failure.InvalidRequest.class, () -> engine.sandboxes.open(request));
        assertThat(refused.field()).isEqualTo("image");
        assertThat(engine.rowsAlive()).isEmpty();
        assertThat(engine.sandboxes.ownersOf(new ThreadId("t1"))).isEmpty();
    }

    @Test
    void deadPooledMachineIsNeverHandedOut() {
        open(TestEngine.plain().withPoolSize(2));
        awaitPool(2);
        var dead = engine.provider.survivors();
        dead.forEach(engine::killGuest);
        Sandbox sandbox = engine.sandbox("t1");
        assertThat(dead).doesNotContain(sandbox.id());
        assertThat(output(sandbox, "echo alive")).isEqualTo("alive");
        await().untilAsserted(() -> assertThat(engine.provider.survivors()).doesNotContainAnyElementsOf(dead));
    }

    @Test
    void machineThatRejectsItsLimitsIsReplaced() {
        open(TestEngine.plain().withPoolSize(2));
        awaitPool(2);
        engine.provider.fail(Step.LIMIT, 1);
        Sandbox sandbox = engine.sandboxes
                .open(NewSandbox.of(TestEngine.ANN, new ThreadId("t1")).withLimits(SMALL))
                .sandbox();
        assertThat(output(sandbox, "echo alive")).isEqualTo("alive");
        awaitPool(2);
        await().untilAsserted(() -> assertThat(engine.provider.survivors()).hasSize(3));
    }

    @Test
    void poolRetriesAFailedStart() {
        open(TestEngine.plain().withPoolSize(1), provider -> provider.fail(Step.START, 1));
        await().until(() -> !engine.recorder.poolFailures.isEmpty());
        engine.time.advance(Duration.ofSeconds(31));
        awaitPool(1);
    }

    @Test
    void openAtCapacityFailsUntilASandboxEnds() {
        open(TestEngine.plain().withMaxSandboxes(2));
        Sandbox first = engine.sandbox("t1");
        engine.sandbox("t2");
        var full = failure(Failure.AtCapacity.class, () -> engine.sandbox("t3"));
        assertThat(full.limit()).isEqualTo(2);
        assertThat(full.retryAfter()).isPositive();
        assertThat(engine.sandbox("t2")).isNotNull();
        engine.sandboxes.terminate(first.id(), End.Cause.USER, "");
        assertThat(engine.sandbox("t3")).isNotNull();
        assertThat(engine.sandboxes.pool()).isEqualTo(new PoolStatus(0, 0, 2, 0, 2));
    }

    @Test
    void poolReleasesMachinesAtCapacity() {
        open(TestEngine.plain().withPoolSize(2).withMaxSandboxes(2));
        awaitPool(2);
        var other = new Limits(64L << 20, 1, 32, 32L << 20);
        engine.sandboxes.open(NewSandbox.of(TestEngine.ANN, new ThreadId("t1")).withLimits(other));
        engine.sandboxes.open(NewSandbox.of(TestEngine.ANN, new ThreadId("t2")).withLimits(other));
        await().untilAsserted(() -> assertThat(engine.provider.survivors()).hasSize(2));
        assertThat(engine.sandboxes.pool()).isEqualTo(new PoolStatus(2, 0, 2, 0, 2));
        failure(Failure.AtCapacity.class, () -> engine.sandbox("t3"));
    }

    @Test
    void concurrentOpensBeyondThePoolSizeSucceed() throws Exception {
        open(TestEngine.plain().withPoolSize(4).withMaxSandboxes(24));
        awaitPool(4);
        var ids = atOnce(24, i -> engine.sandbox("t" + i).id());
        assertThat(new HashSet<SandboxId>(ids)).hasSize(24);
        assertThat(engine.recorder.origins).contains(SandboxListener.Origin.WARM, SandboxListener.Origin.COLD);
        assertThat(engine.sandboxes.pool().active()).isEqualTo(24);
        atOnce(24, i -> {
            engine.sandboxes.terminate(ids.get(i), End.Cause.USER, "");
            return 0;
        });
        assertThat(engine.sandboxes.list()).isEmpty();
    }

    @Test
    void idleSandboxEndsAndItsThreadGetsANewOne() {
        open(TestEngine.plain());
        Sandbox sandbox = engine.sandbox("t1");
        engine.time.advance(Duration.ofMinutes(31));
        await().until(() -> sandbox.info().end().isPresent());
        assertThat(sandbox.info().end().orElseThrow().cause()).isEqualTo(End.Cause.IDLE);
        await().untilAsserted(engine::assertNothingRemains);
        assertThat(engine.sandbox("t1").id()).isNotEqualTo(sandbox.id());
    }

    @Test
    void openReplacesAnIdleSandboxImmediately() {
        open(TestEngine.plain());
        Sandbox first = engine.sandbox("t1");
        engine.time.advance(Duration.ofMinutes(31));
        var opened = engine.sandboxes.open(NewSandbox.of(TestEngine.ANN, new ThreadId("t1")));
        assertThat(opened.created()).isTrue();
        assertThat(first.info().end().orElseThrow().cause()).isEqualTo(End.Cause.IDLE);
    }

    @Test
    void runningCommandKeepsItsSandbox() {
        open(TestEngine.plain());
        Sandbox sandbox = engine.sandbox("t1");
        try (var execution = sandbox.exec(Command.of("sleep", "1000"))) {
            engine.time.advance(Duration.ofMinutes(45));
            assertThat(engine.sandbox("t1")).isSameAs(sandbox);
            engine.time.advance(Duration.ofMinutes(29));
            assertThat(execution.pid()).isPositive();
        }
        await().until(() -> !sandbox.lease().isBusy());
        engine.time.advance(Duration.ofMinutes(29));
        assertThat(engine.sandbox("t1")).isSameAs(sandbox);
    }

    @Test
    void backgroundProcessKeepsItsSandboxWhileItWorks() {
        open(TestEngine.plain());
        Sandbox sandbox = engine.sandbox("t1");
        String pid = output(sandbox, "setsid sh -c 'while :; do :; done' >/dev/null 2>&1 & echo $!");
        passHalfOfTheIdleTime(sandbox);
        Duration used = sandbox.stats().cpu();
        await().until(() -> sandbox.stats().cpu().compareTo(used.plusMillis(300)) > 0);
        engine.time.advance(Duration.ofMinutes(15));
        assertThat(engine.sandboxes.find(sandbox.id())).contains(sandbox);
        run(sandbox, "kill -9 " + pid);
        await().until(() -> ProcessHandle.of(Long.parseLong(pid)).isEmpty());
        engine.time.advance(Duration.ofMinutes(31));
        await().until(() -> sandbox.info().end().isPresent());
    }

    @Test
    void processThatOnlyWaitsIsNoUse() {
        open(TestEngine.plain());
        Sandbox sandbox = engine.sandbox("t1");
        run(sandbox, "setsid sleep 1000 >/dev/null 2>&1 &");
        var origin = new ManagedProcess.Origin("sleep", "ann", ProcessInfo.Kind.DETACHED);
        sandbox.detach(Processes.newName(), Command.of("sleep", "1000"), origin);
        sandbox.shell(Command.of("sleep", "1000"), TerminalSize.USUAL);
        passHalfOfTheIdleTime(sandbox);
        engine.time.advance(Duration.ofMinutes(15));
        await().until(() -> sandbox.info().end().isPresent());
        assertThat(sandbox.info().end().orElseThrow().cause()).isEqualTo(End.Cause.IDLE);
    }

    @Test
    void openConnectionToTheOutsideIsNoUseWithoutTraffic() {
        open(TestEngine.plain());
        Sandbox sandbox = engine.sandbox("t1");
        var arrived = new CompletableFuture<InsideConnection>();
        engine.sandboxes.controlPorts().setHandler(connection -> {
            arrived.complete(connection);
            connection.awaitEnd();
        });
        int port = sandbox.openControlPort().getPort();
        var origin = new ManagedProcess.Origin("client", "ann", ProcessInfo.Kind.DETACHED);
        String client = "exec 3<>/dev/tcp/127.0.0.1/" + port + "; exec sleep 1000";
        sandbox.detach(Processes.newName(), Command.of("bash", "-c", client), origin);
        var connection = arrived.orTimeout(1, TimeUnit.MINUTES).join();
        engine.time.advance(Duration.ofMinutes(10));
        assertThat(connection.write(new byte[] {1}, 0, 1)).isTrue();
        assertThat(sandbox.info().expiresAt())
                .as("traffic is use")
                .isAfter(engine.time.instant().plus(Duration.ofMinutes(29)));
        passHalfOfTheIdleTime(sandbox);
        engine.time.advance(Duration.ofMinutes(15));
        await().until(() -> sandbox.info().end().isPresent());
        assertThat(sandbox.info().end().orElseThrow().cause()).isEqualTo(End.Cause.IDLE);
    }

    @Test
    void connectedClientKeepsItsSandbox() {
        open(TestEngine.plain());
        Sandbox sandbox = engine.sandbox("t1");
        try (var _ = sandbox.use()) {
            engine.time.advance(Duration.ofMinutes(45));
            assertThat(engine.sandboxes.find(sandbox.id())).contains(sandbox);
        }
        engine.time.advance(Duration.ofMinutes(31));
        await().until(() -> sandbox.info().end().isPresent());
    }

    /// Waits for the sample of the processes in the middle of the idle time.
    private void passHalfOfTheIdleTime(Sandbox sandbox) {
        engine.time.advance(Duration.ofMinutes(16));
        await().until(() -> !sandbox.processActivity().isSampleDue(sandbox.lease()));
    }

    @Test
    void endedSandboxDoesNotExpireAfterItsEnd() {
        open(TestEngine.plain());
        Sandbox sandbox = engine.sandbox("t1");
        engine.sandboxes.terminate(sandbox.id(), End.Cause.USER, "test");
        assertThat(List.of(
                        sandbox.info(), engine.sandboxes.findEnded(sandbox.id()).orElseThrow()))
                .allSatisfy(info -> {
                    Instant end = info.end().orElseThrow().at();
                    assertThat(info.expiresAt()).isBeforeOrEqualTo(end);
                    assertThat(info.endsAt()).isBeforeOrEqualTo(end);
                });
    }

    @Test
    void useDuringTheIdleCheckKeepsTheSandbox() throws Exception {
        open(TestEngine.plain());
        Sandbox sandbox = engine.sandbox("t1");
        long guest = engine.guest(sandbox.id()).pid();
        signal("STOP", guest);
        engine.time.advance(Duration.ofMinutes(31));
        var idleCheck = Thread.ofPlatform().name("asking").start(() -> engine.sandboxes.find(sandbox.id()));
        await().until(() -> idleCheck.getState() == Thread.State.WAITING);
        sandbox.touch();
        signal("CONT", guest);
        idleCheck.join();
        assertThat(engine.sandbox("t1")).isSameAs(sandbox);
    }

    private static void signal(String name, long pid) throws Exception {
        var kill = new ProcessBuilder("kill", "-" + name, Long.toString(pid)).start();
        assertThat(kill.waitFor()).isZero();
    }

    @Test
    void sandboxEndsAfterItsLifetime() {
        open(TestEngine.plain());
        Sandbox sandbox = engine.sandbox("t1");
        try (var execution = sandbox.exec(Command.of("sleep", "1000"))) {
            execution.next();
            engine.time.advance(Duration.ofHours(25));
            var ended = failure(Failure.SandboxEnded.class, execution::next);
            assertThat(ended.end().cause()).isEqualTo(End.Cause.LIFETIME);
        }
    }

    @Test
    void clockChangeEndsNoSandbox() {
        open(TestEngine.plain());
        Sandbox sandbox = engine.sandbox("t1");
        engine.time.stepClock(Duration.ofDays(400));
        assertThat(engine.sandbox("t1")).isSameAs(sandbox);
    }

    @Test
    void heartbeatExtendsTheLeaseAndReadsDoNot() {
        open(TestEngine.plain());
        Sandbox sandbox = engine.sandbox("t1");
        engine.time.advance(Duration.ofMinutes(29));
        sandbox.touch();
        engine.time.advance(Duration.ofMinutes(29));
        sandbox.stats();
        sandbox.usage();
        assertThat(sandbox.info().expiresAt()).isBefore(engine.time.instant().plus(Duration.ofMinutes(2)));
        engine.time.advance(Duration.ofMinutes(2));
        await().until(() -> sandbox.info().end().isPresent());
    }

    @Test
    void drainRejectsNewWorkAndKeepsMachinesRunning() {
        open(TestEngine.plain());
        Sandbox sandbox = engine.sandbox("t1");
        long guest = engine.guest(sandbox.id()).pid();
        try (var execution = sandbox.exec(Command.of("sleep", "1000"))) {
            execution.next();
            engine.sandboxes.drain();
            engine.sandboxes.drain();
            failure(Failure.ShuttingDown.class, execution::next);
        }
        failure(Failure.ShuttingDown.class, () -> engine.sandbox("t1"));
        failure(Failure.ShuttingDown.class, () -> run(sandbox, "true"));
        assertThat(ProcessHandle.of(guest)).isPresent();
    }

    @Test
    void listenersAreCalledInOrderEvenIfOneThrows() {
        open(TestEngine.plain());
        engine.sandboxes.drain();
        var calls = new CopyOnWriteArrayList<String>();
        engine.sandboxes = Sandboxes.open(
                engine.provider,
                engine.db,
                TestEngine.plain(),
                List.of(listener("first", calls), new ThrowingListener(), listener("second", calls)),
                engine.time.timeSource());
        Sandbox sandbox = engine.sandbox("t1");
        assertThat(output(sandbox, "echo fine")).isEqualTo("fine");
        engine.sandboxes.terminate(sandbox.id(), End.Cause.USER, "");
        assertThat(calls)
                .containsExactly(
                        "first created",
                        "second created",
                        "first ending",
                        "second ending",
                        "first ended",
                        "second ended",
                        "first removed",
                        "second removed");
    }

    private static SandboxListener listener(String name, List<String> calls) {
        return new SandboxListener() {
            @Override
            public void created(SandboxInfo sandbox, Origin origin, Duration took) {
                calls.add(name + " created");
            }

            @Override
            public void ending(Sandbox sandbox) {
                calls.add(name + " ending");
            }

            @Override
            public void ended(SandboxInfo sandbox) {
                calls.add(name + " ended");
            }

            @Override
            public void removed(SandboxInfo sandbox) {
                calls.add(name + " removed");
            }
        };
    }

    private static final class ThrowingListener implements SandboxListener {
        @Override
        public void created(SandboxInfo sandbox, Origin origin, Duration took) {
            throw new IllegalStateException("a bug in created");
        }

        @Override
        public void ending(Sandbox sandbox) {
            throw new IllegalStateException("a bug in ending");
        }

        @Override
        public void ended(SandboxInfo sandbox) {
            throw new IllegalStateException("a bug in ended");
        }
    }

    private static boolean hasRoom(Sandbox sandbox) {
        try {
            return run(sandbox, "true").exitCode() == 0;
        } catch (SandboxException e) {
            assertThat(e.failure()).isInstanceOf(Failure.TooManyCommands.class);
            return false; // The guest has not reported the exit of the other command yet.
        }
    }

    private void open(SandboxesConfig config) {
        engine = TestEngine.at(home, config);
    }

    private void open(SandboxesConfig config, Consumer<FaultyProvider> before) {
        engine = TestEngine.at(home, config, before);
    }

    private void awaitPool(int machines) {
        await().until(() -> engine.sandboxes.pool().available() == machines);
    }

    private interface Call<T> {
        T call(int number) throws Exception;
    }

    private static <T> List<T> atOnce(int callers, Call<T> call) throws Exception {
        try (var workers = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Callable<T>> calls = IntStream.range(0, callers)
                    .<Callable<T>>mapToObj(i -> () -> call.call(i))
                    .toList();
            var results = new ArrayList<T>();
            for (var future : workers.invokeAll(calls)) {
                results.add(future.get());
            }
            return results;
        }
    }
}
