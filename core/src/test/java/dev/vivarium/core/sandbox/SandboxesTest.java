package dev.vivarium.core.sandbox;

import static dev.vivarium.core.sandbox.House.failure;
import static dev.vivarium.core.sandbox.House.output;
import static dev.vivarium.core.sandbox.House.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.exec.Execution;
import dev.vivarium.core.sandbox.FaultyProvider.Step;
import dev.vivarium.model.Command;
import dev.vivarium.model.End;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Limits;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SandboxesTest {
    private static final Limits SMALL = new Limits(64L << 20, 0.5, 32, Limits.STANDARD.diskBytes());

    @TempDir
    Path home;

    private House house;

    @AfterEach
    void close() {
        house.close();
    }

    @Test
    void ofManyOpensAtOnceForOneThreadOneCreatesAndAllGetTheSame() throws Exception {
        open(House.plain());
        var opened = atOnce(20, i -> house.sandboxes.open(NewSandbox.of(House.ANN, new ThreadId("t1"))));
        assertThat(opened.stream().filter(OpenResult::created)).hasSize(1);
        assertThat(opened.stream().map(each -> each.sandbox().id()).distinct()).hasSize(1);
        assertThat(house.sandboxes.list()).hasSize(1);
        assertThat(house.provider.survivors()).hasSize(1);
    }

    @Test
    void ofManyOpensAtOnceAllLearnOfAFailure() throws Exception {
        open(House.plain());
        house.provider.fail(Step.START, 1000);
        var failures = atOnce(10, i -> failure(Failure.ProviderFailed.class, () -> house.sandbox("t1")));
        assertThat(failures).hasSize(10);
        house.assertNothingRemains();
    }

    @Test
    void aThreadBelongsToWhoFirstUsedItForGood() {
        open(House.plain());
        Sandbox sandbox = house.sandbox("t1");
        var strangers = NewSandbox.of(new UserId("bob"), new ThreadId("t1"));
        failure(Failure.NoSandboxForThread.class, () -> house.sandboxes.open(strangers));
        house.sandboxes.terminate(sandbox.id(), End.Cause.USER, "");
        failure(Failure.NoSandboxForThread.class, () -> house.sandboxes.open(strangers));
        assertThat(house.sandbox("t1").info().user()).isEqualTo(House.ANN);
    }

    @Test
    void twoUsersWhoRaceForANewThreadDoNotShareIt() throws Exception {
        open(House.plain());
        var outcomes = atOnce(10, i -> {
            try {
                var user = new UserId(i % 2 == 0 ? "ann" : "bob");
                return house.sandboxes
                        .open(NewSandbox.of(user, new ThreadId("t1")))
                        .sandbox()
                        .info()
                        .user()
                        .value();
            } catch (SandboxException e) {
                return e.failure().slug();
            }
        });
        assertThat(new HashSet<>(outcomes)).hasSize(2).contains("no-sandbox-for-thread");
    }

    @Test
    void theEnvironmentOfASandboxReachesItsCommandsAndCommandsOverrideIt() {
        open(House.plain());
        Sandbox sandbox = house.sandboxes
                .open(NewSandbox.of(House.ANN, new ThreadId("t1")).withEnv(Map.of("A", "one", "B", "two")))
                .sandbox();
        try (var execution = sandbox.exec(Command.shell("echo $A $B").withEnv(Map.of("B", "three")))) {
            assertThat(execution.collect().stdout()).isEqualTo("one three\n");
        }
    }

    @Test
    void commandsBeyondTheLimitAreRefusedUntilOneEnds() {
        open(House.plain());
        Sandbox sandbox = house.sandbox("t1");
        var running = new ArrayList<Execution>();
        for (int i = 0; i < House.plain().room().commands(); i++) {
            running.add(sandbox.exec(Command.of("sleep", "1000")));
        }
        failure(Failure.TooManyCommands.class, () -> run(sandbox, "true"));
        running.getFirst().close();
        await().until(() -> hasRoom(sandbox));
        running.forEach(each -> each.close());
    }

    @Test
    void thePoolHandsOutEachMachineOnceAndIsRefilled() throws Exception {
        open(House.plain().withPoolSize(3));
        awaitPool(3);
        var ids = atOnce(3, i -> house.sandbox("t" + i).id());
        assertThat(ids).doesNotHaveDuplicates();
        assertThat(house.recorder.origins).containsOnly(SandboxListener.Origin.WARM);
        awaitPool(3);
        var more = atOnce(3, i -> house.sandbox("u" + i).id());
        assertThat(more).doesNotContainAnyElementsOf(ids);
    }

    @Test
    void aMachineOfThePoolTakesItsOwnersLimitsAndEnvironment() {
        open(House.plain().withPoolSize(1));
        awaitPool(1);
        Sandbox sandbox = house.sandboxes
                .open(NewSandbox.of(House.ANN, new ThreadId("t1"))
                        .withLimits(SMALL)
                        .withIdleTimeout(Duration.ofMinutes(5))
                        .withEnv(Map.of("WHO", "ann")))
                .sandbox();
        assertThat(house.recorder.origins).containsExactly(SandboxListener.Origin.WARM);
        assertThat(house.provider.limitsGiven).containsExactly(SMALL);
        assertThat(sandbox.info().limits()).isEqualTo(SMALL);
        assertThat(Duration.between(
                        sandbox.info().lastActivity(), sandbox.info().expiresAt()))
                .isEqualTo(Duration.ofMinutes(5));
        assertThat(output(sandbox, "echo $WHO")).isEqualTo("ann");
        assertThat(house.rowsAlive())
                .filteredOn(row -> row.id().equals(sandbox.id()))
                .allMatch(row -> row.limits().equals(SMALL) && row.env().equals(Map.of("WHO", "ann")));
    }

    @Test
    void anotherDiskThanThePoolsIsAColdStart() {
        open(House.plain().withPoolSize(1));
        awaitPool(1);
        var other = new Limits(64L << 20, 1, 32, 32L << 20);
        house.sandboxes.open(NewSandbox.of(House.ANN, new ThreadId("t1")).withLimits(other));
        assertThat(house.recorder.origins).containsExactly(SandboxListener.Origin.COLD);
    }

    @Test
    void anImageThatIsNotThereIsRefusedBeforeAnythingIsMade() {
        open(House.plain());
        var request = NewSandbox.of(House.ANN, new ThreadId("t1")).withImage("no-such-image");
        var refused = failure(Failure.InvalidRequest.class, () -> house.sandboxes.open(request));
        assertThat(refused.field()).isEqualTo("image");
        assertThat(house.rowsAlive()).isEmpty();
        assertThat(house.sandboxes.ownerOf(new ThreadId("t1"))).isEmpty();
    }

    @Test
    void aStrangerToTheThreadCostsThePoolNothing() {
        // As many as the pool has, so that nothing is started in place of a machine that is away for a moment.
        open(House.plain().withPoolSize(2).withMaxSandboxes(2));
        Sandbox sandbox = house.sandbox("t1");
        house.sandboxes.terminate(sandbox.id(), End.Cause.USER, "");
        awaitPool(2);
        var warm = house.provider.survivors();
        var strangers = NewSandbox.of(new UserId("bob"), new ThreadId("t1"));
        failure(Failure.NoSandboxForThread.class, () -> house.sandboxes.open(strangers));
        assertThat(house.sandboxes.pool().available()).isEqualTo(2);
        assertThat(house.provider.survivors()).containsExactlyInAnyOrderElementsOf(warm);
    }

    @Test
    void aMachineThatDiedInThePoolIsNeverHandedOut() {
        open(House.plain().withPoolSize(2));
        awaitPool(2);
        var dead = house.provider.survivors();
        dead.forEach(house::killGuest);
        Sandbox sandbox = house.sandbox("t1");
        assertThat(dead).doesNotContain(sandbox.id());
        assertThat(output(sandbox, "echo alive")).isEqualTo("alive");
        await().untilAsserted(() -> assertThat(house.provider.survivors()).doesNotContainAnyElementsOf(dead));
    }

    @Test
    void aMachineThatRefusesItsNewLimitsGivesWayToTheNext() {
        open(House.plain().withPoolSize(2));
        awaitPool(2);
        house.provider.fail(Step.LIMIT, 1);
        Sandbox sandbox = house.sandboxes
                .open(NewSandbox.of(House.ANN, new ThreadId("t1")).withLimits(SMALL))
                .sandbox();
        assertThat(output(sandbox, "echo alive")).isEqualTo("alive");
        awaitPool(2);
        await().untilAsserted(() -> assertThat(house.provider.survivors()).hasSize(3));
    }

    @Test
    void aPoolThatCannotStartMachinesTriesAgainLater() {
        open(House.plain().withPoolSize(1), provider -> provider.fail(Step.START, 1));
        await().until(() -> !house.recorder.poolFailures.isEmpty());
        house.time.advance(Duration.ofSeconds(31));
        awaitPool(1);
    }

    @Test
    void atCapacityAnOpenIsRefusedAtOnceAndAnEndMakesRoom() {
        open(House.plain().withMaxSandboxes(2));
        Sandbox first = house.sandbox("t1");
        house.sandbox("t2");
        var full = failure(Failure.AtCapacity.class, () -> house.sandbox("t3"));
        assertThat(full.limit()).isEqualTo(2);
        assertThat(full.retryAfter()).isPositive();
        assertThat(house.sandbox("t2")).isNotNull();
        house.sandboxes.terminate(first.id(), End.Cause.USER, "");
        assertThat(house.sandbox("t3")).isNotNull();
        assertThat(house.sandboxes.pool()).isEqualTo(new PoolStatus(0, 0, 2, 2));
    }

    @Test
    void thePoolGivesUpMachinesToMakeRoom() {
        open(House.plain().withPoolSize(2).withMaxSandboxes(2));
        awaitPool(2);
        var other = new Limits(64L << 20, 1, 32, 32L << 20);
        house.sandboxes.open(NewSandbox.of(House.ANN, new ThreadId("t1")).withLimits(other));
        house.sandboxes.open(NewSandbox.of(House.ANN, new ThreadId("t2")).withLimits(other));
        await().untilAsserted(() -> assertThat(house.provider.survivors()).hasSize(2));
        assertThat(house.sandboxes.pool()).isEqualTo(new PoolStatus(2, 0, 2, 2));
        failure(Failure.AtCapacity.class, () -> house.sandbox("t3"));
    }

    @Test
    void manyMoreOpensAtOnceThanThePoolHasAllSucceed() throws Exception {
        open(House.plain().withPoolSize(4).withMaxSandboxes(24));
        awaitPool(4);
        var ids = atOnce(24, i -> house.sandbox("t" + i).id());
        assertThat(new HashSet<SandboxId>(ids)).hasSize(24);
        assertThat(house.recorder.origins).contains(SandboxListener.Origin.WARM, SandboxListener.Origin.COLD);
        assertThat(house.sandboxes.pool().active()).isEqualTo(24);
        atOnce(24, i -> {
            house.sandboxes.terminate(ids.get(i), End.Cause.USER, "");
            return 0;
        });
        assertThat(house.sandboxes.list()).isEmpty();
    }

    @Test
    void anIdleSandboxEndsAndItsThreadGetsANewOne() {
        open(House.plain());
        Sandbox sandbox = house.sandbox("t1");
        house.time.advance(Duration.ofMinutes(31));
        await().until(() -> sandbox.info().end().isPresent());
        assertThat(sandbox.info().end().orElseThrow().cause()).isEqualTo(End.Cause.IDLE);
        await().untilAsserted(house::assertNothingRemains);
        assertThat(house.sandbox("t1").id()).isNotEqualTo(sandbox.id());
    }

    @Test
    void anOpenDoesNotWaitForTheReaper() {
        open(House.plain());
        Sandbox first = house.sandbox("t1");
        house.time.advance(Duration.ofMinutes(31));
        var opened = house.sandboxes.open(NewSandbox.of(House.ANN, new ThreadId("t1")));
        assertThat(opened.created()).isTrue();
        assertThat(first.info().end().orElseThrow().cause()).isEqualTo(End.Cause.IDLE);
    }

    @Test
    void aRunningCommandKeepsItsSandbox() {
        open(House.plain());
        Sandbox sandbox = house.sandbox("t1");
        try (var execution = sandbox.exec(Command.of("sleep", "1000"))) {
            house.time.advance(Duration.ofMinutes(45));
            assertThat(house.sandbox("t1")).isSameAs(sandbox);
            house.time.advance(Duration.ofMinutes(29));
            assertThat(execution.pid()).isPositive();
        }
        await().until(() -> !sandbox.lease().isBusy());
        house.time.advance(Duration.ofMinutes(29));
        assertThat(house.sandbox("t1")).isSameAs(sandbox);
    }

    @Test
    void aBackgroundProcessKeepsItsSandboxAndItsEndDoesNot() {
        open(House.plain());
        Sandbox sandbox = house.sandbox("t1");
        String pid = output(sandbox, "setsid sleep 1000 >/dev/null 2>&1 & echo $!");
        house.time.advance(Duration.ofMinutes(31));
        assertThat(house.sandbox("t1")).isSameAs(sandbox);
        run(sandbox, "kill -9 " + pid);
        await().until(() -> ProcessHandle.of(Long.parseLong(pid)).isEmpty());
        house.time.advance(Duration.ofMinutes(31));
        await().until(() -> sandbox.info().end().isPresent());
    }

    @Test
    void oneThatIsUsedWhileItsGuestIsAskedWhetherItIsIdleStays() throws Exception {
        open(House.plain());
        Sandbox sandbox = house.sandbox("t1");
        long guest = house.guest(sandbox.id()).pid();
        signal("STOP", guest);
        house.time.advance(Duration.ofMinutes(31));
        var asking = Thread.ofPlatform().name("asking").start(() -> house.sandboxes.find(sandbox.id()));
        await().until(() -> asking.getState() == Thread.State.WAITING);
        sandbox.touch();
        signal("CONT", guest);
        asking.join();
        assertThat(house.sandbox("t1")).isSameAs(sandbox);
    }

    private static void signal(String name, long pid) throws Exception {
        var kill = new ProcessBuilder("kill", "-" + name, Long.toString(pid)).start();
        assertThat(kill.waitFor()).isZero();
    }

    @Test
    void nothingOutlivesItsLifetime() {
        open(House.plain());
        Sandbox sandbox = house.sandbox("t1");
        try (var execution = sandbox.exec(Command.of("sleep", "1000"))) {
            execution.next();
            house.time.advance(Duration.ofHours(25));
            var ended = failure(Failure.SandboxEnded.class, execution::next);
            assertThat(ended.end().cause()).isEqualTo(End.Cause.LIFETIME);
        }
    }

    @Test
    void aClockThatIsSetEndsNothing() {
        open(House.plain());
        Sandbox sandbox = house.sandbox("t1");
        house.time.stepClock(Duration.ofDays(400));
        assertThat(house.sandbox("t1")).isSameAs(sandbox);
    }

    @Test
    void aHeartbeatExtendsTheLeaseAndLookingDoesNot() {
        open(House.plain());
        Sandbox sandbox = house.sandbox("t1");
        house.time.advance(Duration.ofMinutes(29));
        sandbox.touch();
        house.time.advance(Duration.ofMinutes(29));
        sandbox.stats();
        sandbox.usage();
        assertThat(sandbox.info().expiresAt()).isBefore(house.time.instant().plus(Duration.ofMinutes(2)));
        house.time.advance(Duration.ofMinutes(2));
        await().until(() -> sandbox.info().end().isPresent());
    }

    @Test
    void whileItStopsTheServerRefusesNewWorkAndItsMachinesGoOn() {
        open(House.plain());
        Sandbox sandbox = house.sandbox("t1");
        long guest = house.guest(sandbox.id()).pid();
        try (var execution = sandbox.exec(Command.of("sleep", "1000"))) {
            execution.next();
            house.sandboxes.drain();
            house.sandboxes.drain();
            failure(Failure.ShuttingDown.class, execution::next);
        }
        failure(Failure.ShuttingDown.class, () -> house.sandbox("t1"));
        failure(Failure.ShuttingDown.class, () -> run(sandbox, "true"));
        assertThat(ProcessHandle.of(guest)).isPresent();
    }

    @Test
    void everyListenerHearsInOrderAlsoWhenAnotherThrows() {
        open(House.plain());
        house.sandboxes.drain();
        var heard = new CopyOnWriteArrayList<String>();
        house.sandboxes = Sandboxes.open(
                house.provider,
                house.db,
                House.plain(),
                List.of(listener("first", heard), new ThrowingListener(), listener("second", heard)),
                house.time.timeSource());
        Sandbox sandbox = house.sandbox("t1");
        assertThat(output(sandbox, "echo fine")).isEqualTo("fine");
        house.sandboxes.terminate(sandbox.id(), End.Cause.USER, "");
        assertThat(heard)
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

    private static SandboxListener listener(String name, List<String> heard) {
        return new SandboxListener() {
            @Override
            public void created(SandboxInfo sandbox, Origin origin, Duration took) {
                heard.add(name + " created");
            }

            @Override
            public void ending(Sandbox sandbox) {
                heard.add(name + " ending");
            }

            @Override
            public void ended(SandboxInfo sandbox) {
                heard.add(name + " ended");
            }

            @Override
            public void removed(SandboxInfo sandbox) {
                heard.add(name + " removed");
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
            return false; // The guest has not said yet that the other has ended.
        }
    }

    private void open(SandboxesConfig config) {
        house = House.at(home, config);
    }

    private void open(SandboxesConfig config, Consumer<FaultyProvider> before) {
        house = House.at(home, config, before);
    }

    private void awaitPool(int machines) {
        await().until(() -> house.sandboxes.pool().available() == machines);
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
