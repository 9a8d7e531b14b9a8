package dev.vivarium.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.vivarium.model.Command;
import dev.vivarium.model.ExecEvent;
import dev.vivarium.model.ExecResult;
import dev.vivarium.model.Exit;
import dev.vivarium.model.Failure;
import dev.vivarium.model.FileEntry;
import dev.vivarium.model.GuardianPolicy;
import dev.vivarium.model.Limits;
import dev.vivarium.model.Listing;
import dev.vivarium.model.NewReview;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.OnIdle;
import dev.vivarium.model.Review;
import dev.vivarium.model.ReviewId;
import dev.vivarium.model.ReviewPolicy;
import dev.vivarium.model.Run;
import dev.vivarium.model.RunId;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.SnapshotId;
import dev.vivarium.model.SnapshotInfo;
import dev.vivarium.model.Spent;
import dev.vivarium.model.Status;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.ThreadKey;
import dev.vivarium.model.UserId;
import java.io.ByteArrayInputStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.core.JsonGenerator;

class CodecTest {
    private static final SandboxId ID = new SandboxId("sbxaaaaaaaaaaaaaaaaaaaa");
    private static final Instant NOW = Instant.parse("2026-01-01T10:00:00.123Z");
    private static final Limits LIMITS = new Limits((256L << 20) + 1, 0.5, 64, 512L << 20);

    @Test
    void sessionSurvivesARoundTrip() {
        var info = running();

        assertThat(SessionJson.SESSION
                        .read(written(out -> SessionJson.SESSION.writeFields(
                                out, new SessionJson.Session(info, SessionJson.Found.CREATED))))
                        .info())
                .isEqualTo(info);
    }

    private static SandboxInfo running() {
        return new SandboxInfo(
                ID,
                new ThreadId("t1"),
                new UserId("u1"),
                Status.RUNNING,
                LIMITS,
                NOW,
                NOW.plusSeconds(1),
                NOW.plusSeconds(2),
                NOW.plusSeconds(3),
                OnIdle.HIBERNATE,
                Optional.empty(),
                Optional.empty());
    }

    @Test
    void snapshotSurvivesARoundTrip() {
        var snapshot = new SnapshotInfo(
                new SnapshotId("snpaaaaaaaaaaaaaaaaaaaa"),
                new ThreadKey(new UserId("u1"), new ThreadId("t1")),
                ID,
                "before",
                4096,
                0,
                NOW,
                Optional.of(new SnapshotId("snpbbbbbbbbbbbbbbbbbbbb")));

        assertThat(SnapshotJson.SNAPSHOT.read(written(out -> SnapshotJson.SNAPSHOT.writeFields(out, snapshot))))
                .isEqualTo(snapshot);
    }

    @Test
    void runSurvivesARoundTrip() {
        var run = new Run(
                new RunId("runaaaaaaaaaaaaaaaaaaaa"),
                ID,
                new TaskId("tskaaaaaaaaaaaaaaaaaaaa"),
                new UserId("u1"),
                new ThreadId("t1"),
                new Run.Program(Run.Runtime.COMMAND, List.of("python3", "agent.py"), Optional.of("small")),
                Run.Status.FAILED,
                Optional.of("it cost too much"),
                Optional.of("budget"),
                Optional.of(new BigDecimal("1.5")),
                new Spent(1, 2, 3, 4, 5, new BigDecimal("1.75")),
                Optional.of("conversation"),
                Optional.empty(),
                NOW,
                Optional.of(NOW.plusSeconds(1)),
                Optional.of(new Run.Heartbeat(NOW, "{\"cpu\":1}")),
                Optional.of(GuardianPolicy.STOP));
        var sandbox = running();

        assertThat(RunJson.readRun(written(out -> RunJson.SANDBOX.writeFields(
                        out, new RunJson.View(sandbox, Optional.of(run), Optional.empty())))))
                .contains(run);
        assertThat(RunJson.readRun(written(out -> RunJson.SANDBOX.writeFields(
                        out, new RunJson.View(sandbox, Optional.empty(), Optional.empty())))))
                .isEmpty();
    }

    @Test
    void reviewSurvivesARoundTrip() {
        var policy = ReviewPolicy.of(Duration.ofMinutes(1), ReviewPolicy.OnTimeout.ESCALATE);
        var question = new NewReview("risk", "Delete it?", "{\"options\":[\"yes\"]}", List.of("yes"), true, policy);
        var answer = new Review.Answer("yes", Optional.of("go on"), new UserId("u1"), NOW);
        var review = new Review(
                new ReviewId("revaaaaaaaaaaaaaaaaaaaa"),
                ID,
                new TaskId("tskaaaaaaaaaaaaaaaaaaaa"),
                question,
                Review.Status.ANSWERED,
                Optional.of(answer),
                NOW,
                NOW.plusSeconds(60),
                Optional.of(NOW.plusSeconds(61)));

        assertThat(ReviewJson.REVIEW.read(written(out -> ReviewJson.REVIEW.writeFields(out, review))))
                .isEqualTo(review);
    }

    @Test
    void sessionRequestSurvivesARoundTrip() {
        var request = NewSandbox.of(new UserId("u1"), new ThreadId("t1"))
                .withIdleTimeout(Duration.ofSeconds(90))
                .withLimits(LIMITS)
                .withEnv(Map.of("A", "1\n2"))
                .withImage("debian");

        assertThat(SessionJson.readRequest(
                        written(out -> SessionJson.CREATE.writeFields(out, request)), Optional.empty(), LIMITS))
                .isEqualTo(request);
    }

    @Test
    void defaultUserIsTheCaller() {
        var request =
                SessionJson.readRequest(Json.answer("{\"thread_id\":\"t1\"}"), Optional.of(new UserId("me")), LIMITS);

        assertThat(request.user()).isEqualTo(new UserId("me"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "-1", "1e300", "\"30\"", "true"})
    void invalidTimeoutIsRejected(String timeout) {
        var fields = Json.answer("{\"user_id\":\"u\",\"thread_id\":\"t\",\"timeout_minutes\":" + timeout + "}");

        assertThatThrownBy(() -> SessionJson.readRequest(fields, Optional.empty(), LIMITS))
                .hasMessageStartingWith("timeout_minutes ");
    }

    @Test
    void commandSurvivesARoundTrip() {
        var command = Command.shell("echo €")
                .withTimeout(Duration.ofMillis(1500))
                .withIdleTimeout(Duration.ofSeconds(2))
                .withEnv(Map.of("A", "b"))
                .withDirectory("src")
                .withInput(Command.Input.STREAM);
        var request = new ExecJson.Request(ID.value(), "echo €", command, Optional.of("in"));

        assertThat(ExecJson.EXECUTE.read(written(out -> ExecJson.EXECUTE.writeFields(out, request))))
                .isEqualTo(request);
    }

    @Test
    void defaultTimeoutIsThirtySeconds() {
        var request = ExecJson.EXECUTE.read(Json.answer("{\"session_id\":\"x\",\"command\":\"ls\"}"));

        assertThat(request.command().timeout()).contains(Duration.ofSeconds(30));
    }

    @ParameterizedTest
    @EnumSource(Exit.Cause.class)
    void resultSurvivesARoundTrip(Exit.Cause cause) {
        var output = new ExecJson.Output(ExecJson.Text.of("out\u0000\uFFFD"), ExecJson.Text.of("err"), true);
        var ended = new ExecJson.Ended(exit(cause), output);

        assertThat(ExecJson.read(written(out -> ExecJson.RESULT.writeFields(out, ended))))
                .isEqualTo(new ExecResult(exit(cause), "out\u0000\uFFFD", "err", true));
    }

    @Test
    void eventsSurviveARoundTrip() {
        var output = (ExecEvent.Output)
                event(out -> ExecJson.output(out, ExecEvent.Stream.STDERR, "é")).orElseThrow();

        assertThat(event(out -> ExecJson.started(out, 42))).contains(new ExecEvent.Started(42));
        assertThat(output.stream()).isEqualTo(ExecEvent.Stream.STDERR);
        assertThat(output.bytes()).asString(StandardCharsets.UTF_8).isEqualTo("é");
        assertThat(event(out -> ExecJson.exited(out, exit(Exit.Cause.OOM), false)))
                .contains(new ExecEvent.Exited(exit(Exit.Cause.OOM)));
    }

    @Test
    void keepAliveIsNoEvent() {
        assertThat(event(ExecJson::keepAlive)).isEmpty();
    }

    @Test
    void failureInAStreamIsRethrown() {
        var failure = new Failure.GuestUnreachable(ID, "gone");

        assertThatThrownBy(() -> event(out -> ExecJson.failed(out, failure)))
                .isInstanceOfSatisfying(
                        SandboxException.class, e -> assertThat(e.failure()).isEqualTo(failure));
    }

    @Test
    void listingSurvivesARoundTrip() {
        var listing = new Listing(
                List.of(
                        new FileEntry("a\nb €.txt", FileEntry.Type.FILE, 0644, 5, NOW),
                        new FileEntry("link", FileEntry.Type.LINK, 0777, 1, NOW)),
                2,
                0,
                6,
                false);

        assertThat(FileJson.read(written(out -> FileJson.FILES.writeFields(
                        out, new FileJson.Listed("", ID, listing, listing.entries().stream())))))
                .isEqualTo(listing);
    }

    @Test
    void uploadResultSurvivesARoundTrip() {
        var entry = new FileEntry("dir/a.txt", FileEntry.Type.FILE, 0640, 5, NOW);

        assertThat(FileJson.UPLOADED.read(written(out -> FileJson.UPLOADED.writeFields(out, entry))))
                .isEqualTo(entry);
    }

    private static Exit exit(Exit.Cause cause) {
        return new Exit(
                cause, 9, Duration.ofMillis(45), Duration.ofNanos(2000), Duration.ofNanos(3000), 4096, 100, 200);
    }

    private static Optional<ExecEvent> event(Consumer<JsonGenerator> fields) {
        return ExecJson.readEvent(written(fields));
    }

    private static JsonFields written(Consumer<JsonGenerator> fields) {
        return Json.answer(new ByteArrayInputStream(Json.bytes(fields)));
    }
}
