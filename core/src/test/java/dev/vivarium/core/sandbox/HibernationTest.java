package dev.vivarium.core.sandbox;

import static dev.vivarium.core.sandbox.TestEngine.failure;
import static dev.vivarium.core.sandbox.TestEngine.output;
import static dev.vivarium.core.sandbox.TestEngine.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.files.ListDepth;
import dev.vivarium.core.provider.Provider.Disk;
import dev.vivarium.core.sandbox.Transition.Kind;
import dev.vivarium.core.store.SandboxRow.Phase;
import dev.vivarium.core.store.SandboxRows;
import dev.vivarium.model.End;
import dev.vivarium.model.Failure;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.OnIdle;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.Status;
import dev.vivarium.model.ThreadKey;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Hibernation of idle sandboxes, and the calls that start them again.
class HibernationTest {
    private static final ThreadKey THREAD = TestEngine.thread("t1");
    private static final Duration IDLE = Duration.ofMinutes(31);

    /// Transitions from and to hibernation.
    static final EnumSet<Transition> TRANSITIONS = Arrays.stream(Transition.values())
            .filter(step -> step.from() == Kind.HIBERNATED || step.to() == Kind.HIBERNATED)
            .collect(Collectors.toCollection(() -> EnumSet.noneOf(Transition.class)));

    private static final EnumSet<Transition> VISITED = EnumSet.noneOf(Transition.class);

    @TempDir
    private Path home;

    private TestEngine engine;
    private ProcessHandle guest;

    @AfterEach
    void close() {
        engine.close();
        VISITED.addAll(engine.recorder.visited());
    }

    @AfterAll
    static void everyTransitionWasVisited() {
        assertThat(VISITED).containsAll(TRANSITIONS);
    }

    @Test
    void idleSandboxKeepsItsDiskAndNoProcess() {
        Sandbox sandbox = hibernated();
        SandboxInfo info = sandbox.info();

        assertThat(info.status()).isEqualTo(Status.HIBERNATED);
        assertThat(info.onIdle()).isEqualTo(OnIdle.HIBERNATE);
        assertThat(info.stateReason().orElseThrow()).startsWith("idle: unused since");
        assertThat(info.end()).isEmpty();
        assertThat(info.expiresAt())
                .isEqualTo(info.endsAt())
                .isAfter(engine.time.instant().plus(Duration.ofDays(6)));
        assertThat(sandbox.countFiles()).contains(1L);
        assertThat(guest.isAlive()).isFalse();
        assertThat(runDirectory(sandbox)).doesNotExist();
        assertThat(engine.workspace(sandbox.id()).resolve("kept")).exists();
        assertThat(engine.sandboxes.pool().active()).isZero();
        assertThat(engine.sandboxes.pool().hibernated()).isOne();
        assertThat(engine.sandboxes.list()).hasSize(1);
    }

    @Test
    void nextCallStartsItAgainOnItsDisk() {
        Sandbox sandbox = hibernated();

        assertThat(output(sandbox, "cat kept")).isEqualTo("kept");

        SandboxInfo info = sandbox.info();
        assertThat(info.status()).isEqualTo(Status.RUNNING);
        assertThat(info.stateReason()).isEmpty();
        assertThat(info.endsAt())
                .isBetween(
                        engine.time.instant().plus(Duration.ofHours(23)),
                        engine.time.instant().plus(Duration.ofHours(25)));
        assertThat(engine.sandboxes.pool().active()).isOne();
        var opened = engine.sandboxes.open(NewSandbox.of(TestEngine.ANN, THREAD.thread()));
        assertThat(opened.created()).isFalse();
        assertThat(opened.sandbox()).isSameAs(sandbox);
    }

    @Test
    void everyKindOfUseStartsItAgain() {
        Sandbox sandbox = hibernated();
        List<Runnable> calls = List.of(
                () -> engine.sandboxes.open(NewSandbox.of(TestEngine.ANN, THREAD.thread())),
                () -> sandbox.files().list("", ListDepth.ALL, 10),
                sandbox::touch,
                () -> sandbox.resume(PauseReason.TRAFFIC));
        for (Runnable call : calls) {
            call.run();
            assertThat(sandbox.info().status()).isEqualTo(Status.RUNNING);
            hibernate(sandbox);
        }
        sandbox.info();
        engine.sandboxes.list();
        failure(Failure.SandboxNotRunning.class, sandbox::stats);
        failure(Failure.SandboxNotRunning.class, () -> sandbox.dial(80));
        failure(Failure.SandboxNotRunning.class, () -> sandbox.passiveFiles().list("", ListDepth.ALL, 1));
        assertThat(sandbox.info().status()).isEqualTo(Status.HIBERNATED);
    }

    @Test
    void concurrentCallsStartItOnce() throws Exception {
        Sandbox sandbox = hibernated();
        try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<String>> answers = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                answers.add(callers.submit(() -> output(sandbox, "cat kept")));
            }
            for (Future<String> answer : answers) {
                assertThat(answer.get()).isEqualTo("kept");
            }
        }
        assertThat(Collections.frequency(engine.recorder.transitions, Transition.WAKE))
                .isOne();
    }

    @Test
    void callFailsWhileTheServerIsFullAndTheDiskStays() {
        open(TestEngine.plain().withMaxSandboxes(1));
        Sandbox sandbox = create();
        hibernate(sandbox);
        Sandbox other = engine.sandbox("other");

        var full = failure(Failure.AtCapacity.class, () -> run(sandbox, "true"));

        assertThat(full.limit()).isOne();
        assertThat(sandbox.info().status()).isEqualTo(Status.HIBERNATED);
        engine.sandboxes.terminate(other.id(), End.Cause.USER, "test");
        assertThat(output(sandbox, "cat kept")).isEqualTo("kept");
    }

    @Test
    void failedStartLeavesItHibernated() {
        Sandbox sandbox = hibernated();
        engine.provider.fail(FaultyProvider.Step.START, 1);

        failure(Failure.ProviderFailed.class, () -> run(sandbox, "true"));

        assertThat(sandbox.info().status()).isEqualTo(Status.HIBERNATED);
        assertThat(sandbox.info().endsAt()).isAfter(engine.time.instant().plus(Duration.ofDays(6)));
        assertThat(new SandboxRows(engine.db).find(sandbox.id()).orElseThrow().phase())
                .isEqualTo(Phase.HIBERNATED);
        assertThat(engine.sandboxes.pool().active()).isZero();
        assertThat(output(sandbox, "cat kept")).isEqualTo("kept");
    }

    @Test
    void diskIsDeletedAfterItsRetention() {
        Sandbox sandbox = hibernated();
        engine.time.advance(Duration.ofDays(7).plusMinutes(1));
        await().until(() -> sandbox.info().end().isPresent());
        assertThat(sandbox.info().end().orElseThrow().cause()).isEqualTo(End.Cause.IDLE);
        await().untilAsserted(engine::assertNothingRemains);
    }

    @Test
    void userEndsAHibernatedSandbox() {
        Sandbox sandbox = hibernated();
        engine.sandboxes.terminate(sandbox.id(), End.Cause.USER, "test");
        await().untilAsserted(engine::assertNothingRemains);
    }

    @Test
    void sandboxWithoutItsDiskFails() {
        Sandbox sandbox = hibernated();
        engine.provider.remove(sandbox.id(), Disk.ERASE);

        failure(Failure.SandboxEnded.class, () -> run(sandbox, "true"));

        assertThat(sandbox.info().end().orElseThrow().cause()).isEqualTo(End.Cause.HOST_RESTART);
    }

    @Test
    void pausedSandboxHibernatesWhateverItsPolicyIs() {
        open(TestEngine.plain());
        Sandbox sandbox = engine.sandbox("t1");
        run(sandbox, "echo kept > kept");
        sandbox.pause(PauseReason.by(TestEngine.ANN));
        engine.time.advance(IDLE);
        await().until(() -> sandbox.info().status() == Status.HIBERNATED);
        await().until(() -> !Files.exists(runDirectory(sandbox)));
        assertThat(sandbox.countFiles()).contains(1L);
        assertThat(output(sandbox, "cat kept")).isEqualTo("kept");
    }

    @Test
    void pausedSandboxEndsAtItsLifetimeIfItsPolicyIsEnd() {
        open(TestEngine.plain());
        Sandbox sandbox = engine.sandbox("t1");
        sandbox.pause(PauseReason.by(TestEngine.ANN));
        engine.time.advance(Duration.ofHours(25));
        await().until(() -> sandbox.info().end().isPresent());
        assertThat(sandbox.info().end().orElseThrow().cause()).isEqualTo(End.Cause.LIFETIME);
    }

    @Test
    void lifetimeHibernatesToo() {
        open(TestEngine.plain());
        Sandbox sandbox = create();
        try (var _ = sandbox.use()) {
            engine.time.advance(Duration.ofHours(25));
            await().until(() -> sandbox.info().status() == Status.HIBERNATED);
        }
        assertThat(sandbox.info().stateReason().orElseThrow()).startsWith("lifetime: ");
        assertThat(output(sandbox, "cat kept")).isEqualTo("kept");
    }

    @Test
    void restartOfTheServerKeepsItHibernated() {
        Sandbox before = hibernated();
        SandboxInfo info = before.info();
        engine.stop();
        engine.open(TestEngine.plain());

        Sandbox after = engine.sandboxes.require(THREAD);

        assertThat(after.info().status()).isEqualTo(Status.HIBERNATED);
        assertThat(after.info().stateReason()).isEqualTo(info.stateReason());
        assertThat(after.info().expiresAt().toEpochMilli())
                .isEqualTo(info.expiresAt().toEpochMilli());
        assertThat(after.countFiles()).contains(1L);
        assertThat(engine.sandboxes.pool().active()).isZero();
        assertThat(output(after, "cat kept")).isEqualTo("kept");
        assertThat(after.id()).isEqualTo(info.id());
    }

    @Test
    void sandboxThatLostItsMachineWithoutAServerIsHibernated() {
        open(TestEngine.plain());
        Sandbox before = create();
        engine.stop();
        guest.destroyForcibly();
        guest.onExit().join();
        engine.open(TestEngine.plain());

        Sandbox after = engine.sandboxes.require(THREAD);

        assertThat(after.info().status()).isEqualTo(Status.HIBERNATED);
        assertThat(after.info().stateReason().orElseThrow()).startsWith("no_server: ");
        assertThat(engine.sandboxes.pool().active()).isZero();
        assertThat(output(after, "cat kept")).isEqualTo("kept");
    }

    @Test
    void machineThatAKilledServerLeftIsRemoved() {
        open(TestEngine.plain());
        Sandbox before = create();
        new SandboxRows(engine.db)
                .hibernate(
                        before.id(),
                        new SandboxRows.StoredPause("idle", "", Optional.empty()),
                        engine.time.instant().plus(Duration.ofDays(7)));
        engine.stop();
        engine.open(TestEngine.plain());

        Sandbox after = engine.sandboxes.require(THREAD);

        await().until(() -> !guest.isAlive());
        assertThat(after.info().status()).isEqualTo(Status.HIBERNATED);
        assertThat(output(after, "cat kept")).isEqualTo("kept");
    }

    @Test
    void failedRemovalOfTheMachineIsRetried() {
        open(TestEngine.plain());
        Sandbox sandbox = create();
        engine.provider.fail(FaultyProvider.Step.REMOVE, 1);
        hibernate(sandbox);
        await().until(() -> !guest.isAlive());
        assertThat(output(sandbox, "cat kept")).isEqualTo("kept");
    }

    private void open(SandboxesConfig config) {
        engine = TestEngine.at(home, config);
    }

    private Sandbox hibernated() {
        open(TestEngine.plain());
        Sandbox sandbox = create();
        hibernate(sandbox);
        return sandbox;
    }

    private Sandbox create() {
        Sandbox sandbox = engine.sandboxes
                .open(NewSandbox.of(TestEngine.ANN, THREAD.thread()).withOnIdle(OnIdle.HIBERNATE))
                .sandbox();
        run(sandbox, "echo kept > kept");
        guest = engine.guest(sandbox.id());
        return sandbox;
    }

    private void hibernate(Sandbox sandbox) {
        int before = Collections.frequency(engine.recorder.hibernations, sandbox.id());
        engine.time.advance(IDLE);
        await().until(() -> Collections.frequency(engine.recorder.hibernations, sandbox.id()) > before);
    }

    private Path runDirectory(Sandbox sandbox) {
        return home.resolve("run").resolve(sandbox.id().value());
    }
}
