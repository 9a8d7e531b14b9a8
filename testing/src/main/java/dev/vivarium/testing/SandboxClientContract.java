package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import dev.vivarium.model.ExecEvent;
import dev.vivarium.model.ExecResult;
import dev.vivarium.model.Exit;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxFailure;
import dev.vivarium.model.UserId;
import dev.vivarium.policy.CommandPolicy;
import dev.vivarium.sdk.ExecOptions;
import dev.vivarium.sdk.ExecOptions.OnExpiry;
import dev.vivarium.sdk.Recreated;
import dev.vivarium.sdk.engine.Run;
import java.io.InputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/// Contract of a client. The local and the remote mode pass the same tests.
public abstract class SandboxClientContract extends ClientFilesContract {
    private static final int MIB = 1024 * 1024;

    /// Long enough for a shell to start and write a line on a busy host.
    private static final Duration LIMIT = Duration.ofSeconds(5);

    @Test
    void theFirstCommandRuns() {
        ExecResult result = sandbox().execute("echo out; echo err >&2; exit 3");

        assertThat(result.exitCode()).isEqualTo(3);
        assertThat(result.stdout()).isEqualTo("out\n");
        assertThat(result.stderr()).isEqualTo("err\n");
        assertThat(result.exit().cause()).isEqualTo(Exit.Cause.EXITED);
        assertThat(result.truncated()).isFalse();
    }

    @Test
    void filesPersistBetweenCommands() {
        var box = sandbox();
        box.execute("echo kept > note.txt");

        assertThat(box.execute("cat note.txt").stdout()).isEqualTo("kept\n");
    }

    @Test
    void aSnapshotIsRestoredAndForked() {
        var box = sandbox();
        box.execute("echo before > note.txt");
        String thread = box.thread().value();
        var saved = client().snapshots().take(thread, "first");
        box.execute("echo after > note.txt");

        assertThat(client().snapshots().restore(saved).id()).isEqualTo(box.id());
        assertThat(box.execute("cat note.txt").stdout()).isEqualTo("before\n");

        var fork = client().snapshots().fork(saved, thread + "-fork", Optional.of("alice"));
        var forked = client().find(thread + "-fork").orElseThrow();
        assertThat(forked.id()).isEqualTo(fork.id());
        assertThat(forked.execute("cat note.txt").stdout()).isEqualTo("before\n");
        forked.end();

        assertThat(client().snapshots().find(thread, "first"))
                .contains(client().snapshots().get(saved.id().value()));
        client().snapshots().delete(saved);
        assertThat(client().snapshots().list(thread)).isEmpty();
        assertThat(failureOf(() -> client().snapshots().get(saved.id().value())))
                .isInstanceOf(Failure.NoSuchSnapshot.class);
    }

    @Test
    void theSameThreadFindsTheSameSandbox() {
        var first = sandbox();
        first.execute("echo mine > note.txt");
        var second = client().sandbox("alice", first.thread().value());

        assertThat(first.session().isNew()).isTrue();
        assertThat(second.session().isNew()).isFalse();
        assertThat(second.id()).isEqualTo(first.id());
        assertThat(second.execute("cat note.txt").stdout()).isEqualTo("mine\n");
    }

    @Test
    void anotherThreadHasItsOwnFiles() {
        sandbox().execute("echo mine > note.txt");

        assertThat(sandbox().execute("cat note.txt").exitCode()).isNotZero();
    }

    @Test
    void anotherUserHasAThreadOfTheSameName() {
        var box = sandbox();
        String thread = box.thread().value();

        var other = client().sandbox("mallory", thread);

        assertThat(other.id()).isNotEqualTo(box.id());
        assertThat(client().find("mallory", thread).orElseThrow().id()).isEqualTo(other.id());
        assertThat(client().find("alice", thread).orElseThrow().id()).isEqualTo(box.id());
        assertThat(failureOf(() -> client().find(thread)))
                .isEqualTo(new SandboxFailure.AmbiguousThread(
                        box.thread(), List.of(new UserId("alice"), new UserId("mallory"))));
    }

    @Test
    void findCreatesNoSandbox() {
        String thread = newThread();

        assertThat(client().find(thread)).isEmpty();
        assertThat(client().find(thread)).isEmpty();
        var box = sandbox();
        assertThat(client().find(box.thread().value()).orElseThrow().id()).isEqualTo(box.id());
    }

    @Test
    void timeoutIsAResultThatKeepsTheOutput() {
        ExecResult result = sandbox().execute("echo before; sleep 300", LIMIT);

        assertThat(result.exitCode()).isEqualTo(124);
        assertThat(result.exit().cause()).isEqualTo(Exit.Cause.TIMEOUT);
        assertThat(result.stdout()).isEqualTo("before\n");
    }

    @Test
    void silentCommandIsKilledAfterTheIdleTimeout() {
        var options = ExecOptions.STANDARD.withIdleTimeout(LIMIT);
        ExecResult result = sandbox().execute("echo before; sleep 300", options);

        assertThat(result.exit().cause()).isEqualTo(Exit.Cause.IDLE_TIMEOUT);
        assertThat(result.exitCode()).isEqualTo(124);
        assertThat(result.stdout()).isEqualTo("before\n");
    }

    @Test
    void environmentAndDirectoryApplyToOneCommand() {
        var box = sandbox();
        box.execute("mkdir sub");
        var options = ExecOptions.STANDARD.withDirectory("sub").withEnv(Map.of("GREETING", "grüße 'dich'"));

        assertThat(box.execute("echo \"$GREETING\"; basename \"$PWD\"", options).stdout())
                .isEqualTo("grüße 'dich'\nsub\n");
        assertThat(box.execute("echo \"[$GREETING]\"").stdout()).isEqualTo("[]\n");
    }

    @Test
    void bytesThatAreNotTextAreReplaced() {
        assertThat(sandbox().execute("printf 'a\\377b'").stdout()).isEqualTo("a\uFFFDb");
    }

    @Test
    void outputBeyondTheLimitIsTruncatedAndFlagged() {
        ExecResult result = sandbox().execute("head -c 11534336 /dev/zero | tr '\\0' x");

        assertThat(result.exitCode()).isZero();
        assertThat(result.truncated()).isTrue();
        assertThat(result.stdout()).hasSize(10 * MIB);
    }

    @Test
    void manyCommandsRunAtOnceInOneSandbox() throws Exception {
        var box = sandbox();
        try (var workers = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<String>> answers = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                String script = "echo " + i;
                answers.add(workers.submit(() -> box.execute(script).stdout()));
            }
            for (int i = 0; i < 8; i++) {
                assertThat(answers.get(i).get()).isEqualTo(i + "\n");
            }
        }
    }

    @Test
    void outputArrivesWhileTheCommandRuns() {
        var box = sandbox();
        try (Run run = box.start("echo ready; until [ -e go ]; do sleep 0.02; done; echo gone >&2; exit 4")) {
            assertThat(run.next()).isInstanceOf(ExecEvent.Started.class);
            assertThat(text(run.next())).isEqualTo("ready\n");
            box.upload("go", InputStream.nullInputStream());
            var rest = new ArrayList<ExecEvent>();
            run.forEach(rest::add);

            assertThat(text(rest.getFirst())).isEqualTo("gone\n");
            assertThat(rest.getLast())
                    .isInstanceOfSatisfying(
                            ExecEvent.Exited.class,
                            e -> assertThat(e.exit().exitCode()).isEqualTo(4));
            assertThatThrownBy(run::next).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void closingARunKillsTheProcessTree() {
        var box = sandbox();
        try (Run run = box.start("sleep 301 & echo $! > child; echo $$ > parent; echo ready; wait")) {
            run.next();
            assertThat(text(run.next())).isEqualTo("ready\n");
        }
        awaitDead(box, "parent", "child");
    }

    @Test
    void interruptedCallEndsAndKeepsTheInterruptFlag() throws Exception {
        var box = sandbox();
        var thrown = new AtomicReference<Throwable>();
        var flag = new AtomicReference<Boolean>();
        Thread worker = Thread.ofVirtual().name("interrupted-call").start(() -> {
            thrown.set(catchThrowable(() -> box.execute("touch begun; sleep 302", Duration.ofSeconds(60))));
            flag.set(Thread.currentThread().isInterrupted());
        });
        await().until(() -> !box.list().entries().isEmpty());
        worker.interrupt();
        worker.join();

        assertThat(thrown.get()).isInstanceOf(CancellationException.class);
        assertThat(flag.get()).isTrue();
    }

    @Test
    void interruptedRunKillsTheCommandOnClose() throws Exception {
        var box = sandbox();
        var ready = new CountDownLatch(1);
        var thrown = new AtomicReference<Throwable>();
        Thread worker = Thread.ofVirtual().name("interrupted-run").start(() -> {
            try (Run run = box.start(
                    "echo $$ > pid; echo ready; sleep 303", ExecOptions.STANDARD.withTimeout(Duration.ofMinutes(5)))) {
                run.next();
                run.next();
                ready.countDown();
                thrown.set(catchThrowable(run::next));
            }
        });
        ready.await();
        worker.interrupt();
        worker.join();

        assertThat(thrown.get()).isInstanceOf(CancellationException.class);
        awaitDead(box, "pid");
    }

    @Test
    void expiredSandboxIsRecreatedOnceAndTheListenerIsCalled() {
        var box = sandbox();
        var before = box.session();
        var recreations = new ArrayList<Recreated>();
        box.onRecreated(recreations::add);
        box.execute("echo old > note.txt");
        expire(box);

        assertThat(box.execute("ls").stdout()).isEmpty();

        assertThat(box.recreations()).isOne();
        assertThat(recreations).singleElement().satisfies(recreated -> {
            assertThat(recreated.lost()).isEqualTo(before);
            assertThat(recreated.now()).isEqualTo(box.session());
            assertThat(recreated.why().id()).isEqualTo(before.id().value());
        });
        assertThat(box.id()).isNotEqualTo(before.id());
    }

    @Test
    void streamsUploadsAndListingsRecreateTheSandbox() {
        var box = sandbox();
        expire(box);
        try (Run run = box.start("true")) {
            run.forEach(_ -> {});
        }
        expire(box);
        box.upload("a", stream("a"));
        expire(box);
        assertThat(box.list().entries()).isEmpty();
        assertThat(box.recreations()).isEqualTo(3);
    }

    @Test
    void callerCanDisableRecreation() {
        var box = sandbox();
        String id = box.id().value();
        expire(box);
        var options = ExecOptions.STANDARD.withOnExpiry(OnExpiry.FAIL);

        assertThat(failureOf(() -> box.execute("true", options)))
                .isInstanceOfSatisfying(
                        Failure.NoSuchSandbox.class,
                        gone -> assertThat(gone.id()).isEqualTo(id));
        assertThat(box.recreations()).isZero();
    }

    @Test
    void readingAFileOfAnExpiredSandboxFails() {
        var box = sandbox();
        box.upload("a", stream("a"));
        expire(box);

        assertThat(failureOf(() -> box.open("a").close())).isInstanceOf(Failure.NoSuchSandbox.class);
    }

    @Test
    void concurrentCallsRecreateTheSandboxOnce() throws Exception {
        var box = sandbox();
        expire(box);
        try (var workers = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Integer>> codes = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                codes.add(workers.submit(() -> box.execute("true").exitCode()));
            }
            for (var code : codes) {
                assertThat(code.get()).isZero();
            }
        }
        assertThat(box.recreations()).isOne();
    }

    @Test
    void endedHandleDoesNotRecreateTheSandbox() {
        var box = sandbox();
        box.end();
        box.end();

        assertThat(failureOf(() -> box.execute("true"))).isInstanceOf(Failure.NoSuchSandbox.class);
        assertThat(client().find(box.thread().value())).isEmpty();
    }

    @Test
    void policyRejectsCommandsBeforeSending() {
        var box = sandbox();
        var restricted = client().withPolicy(CommandPolicy.of(CommandPolicy.Mode.ALLOWLIST))
                .sandbox("alice", box.thread().value());

        assertThat(failureOf(() -> restricted.execute("echo x > made; rm made")))
                .isInstanceOfSatisfying(Failure.PolicyRefused.class, refused -> {
                    assertThat(refused.command()).isEqualTo("echo x > made; rm made");
                    assertThat(refused.forbiddenPattern()).contains("\\brm\\b");
                });
        assertThat(failureOf(() -> restricted.start("nonsense"))).isInstanceOf(Failure.PolicyRefused.class);
        assertThat(failureOf(() -> restricted.execute("ls", ExecOptions.STANDARD.withEnv(Map.of("PATH", ".")))))
                .isInstanceOfSatisfying(
                        Failure.InvalidRequest.class,
                        refused -> assertThat(refused.field()).isEqualTo("env.PATH"));
        assertThat(box.list().entries()).isEmpty();
        assertThat(restricted.execute("echo fine | wc -w").stdout().strip()).isEqualTo("1");
    }

    @Test
    void anEmptyCommandIsRefused() {
        var box = sandbox();

        assertThat(failureOf(() -> box.execute(" "))).isInstanceOf(Failure.PolicyRefused.class);
    }

    @Test
    void invalidNamesAreRejected() {
        assertThat(failureOf(() -> client().sandbox("", "t"))).isInstanceOf(Failure.InvalidRequest.class);
        assertThat(failureOf(() -> client().sandbox("alice", "a\nb"))).isInstanceOf(Failure.InvalidRequest.class);
    }
}
