package dev.vivarium.json;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.model.End;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Review;
import dev.vivarium.model.ReviewId;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.Status;
import dev.vivarium.model.Task;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import java.io.ByteArrayInputStream;
import java.lang.reflect.RecordComponent;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ProblemJsonTest {
    private static final SandboxId ID = new SandboxId("sbxaaaaaaaaaaaaaaaaaaaa");
    private static final TaskId TASK = new TaskId("tskaaaaaaaaaaaaaaaaaaaa");
    private static final End END = new End(End.Cause.IDLE, "unused for 30 min", Instant.parse("2026-01-01T10:00:00Z"));

    /// Statuses that clients know. `bad-http` and `internal-error` carry the status of the HTTP server,
    /// which is 499 in the examples.
    private static final String STATUSES = """
            400 cannot-run invalid-request path-escapes policy-refused wrong-file-type
            401 not-authenticated
            403 file-not-permitted not-allowed wrong-origin
            404 no-sandbox-for-thread no-such-file no-such-key no-such-member no-such-process no-such-review
            404 no-such-route no-such-run no-such-sandbox no-such-shell no-such-snapshot no-such-task no-task
            404 no-such-webhook no-such-delivery no-such-alert
            404 no-forensics unknown-run version-not-kept
            404 no-repository no-such-credential not-on-remote
            405 method-not-allowed
            408 request-timeout
            409 file-changing file-exists idempotency-conflict no-run no-transcript no-worker-image nothing-asked process-ended
            409 attempt-over task-in-state task-disk-gone
            409 git-command-failed remote-refused
            409 process-limit-reached review-answered run-in-progress sandbox-not-running task-over thread-has-sandbox
            409 ambiguous-thread too-many-messages too-many-reviews too-many-snapshots
            409 too-many-webhooks
            410 sandbox-ended
            412 precondition-failed
            413 body-too-large file-too-large file-too-large-to-show
            415 unsupported-media-type
            416 range-not-satisfiable
            422 idempotency-key-reused
            426 upgrade-required
            429 quota-exceeded rate-limited too-many-commands too-many-requests too-many-revocations too-many-tokens
            499 bad-http client-gone internal-error
            500 internal provider-failed
            501 unsupported
            502 remote-failed
            502 bad-answer connection-refused guest-unreachable server-unreachable
            503 at-capacity shutting-down store-failed too-much-in-flight
            504 answer-timed-out remote-timed-out start-timed-out
            507 disk-full no-disk-space too-many-files workspace-full
            """;

    static Stream<Failure> everyFailure() {
        return records(Failure.class).distinct().map(ProblemJsonTest::example);
    }

    private static Stream<Class<?>> records(Class<?> type) {
        return type.isRecord()
                ? Stream.of(type)
                : Arrays.stream(type.getPermittedSubclasses()).flatMap(ProblemJsonTest::records);
    }

    @ParameterizedTest
    @MethodSource("everyFailure")
    void failureSurvivesARoundTrip(Failure failure) {
        byte[] json = Json.bytes(out -> ProblemJson.write(out, failure));

        assertThat(ProblemJson.read(Json.answer(new ByteArrayInputStream(json))))
                .isEqualTo(failure);
    }

    @ParameterizedTest
    @MethodSource("everyFailure")
    void everyProblemHasTheDocumentedMembers(Failure failure) {
        var json = Json.answer(new String(Json.bytes(out -> ProblemJson.write(out, failure)), StandardCharsets.UTF_8));

        assertThat(json.string("error")).isNotBlank();
        assertThat(json.string("type")).endsWith(failure.slug());
        assertThat(json.string("title")).isNotBlank();
        assertThat(json.integer("status")).isBetween(400L, 599L);
        assertThat(json.string("detail")).isEqualTo(failure.sentence());
    }

    @Test
    void everySlugKeepsItsStatus() {
        var expected = STATUSES.lines()
                .flatMap(line -> Arrays.stream(line.split(" ")).skip(1).map(slug -> slug + " " + line.substring(0, 3)));
        var actual = everyFailure()
                .filter(failure -> !(failure instanceof Failure.Unrecognized))
                .map(failure -> failure.slug() + " " + ProblemJson.status(failure));

        assertThat(actual).containsExactlyInAnyOrderElementsOf(expected.toList());
    }

    @Test
    void failureWithMissingFieldsKeepsItsSlugStatusAndDetail() {
        var fields = Json.answer("""
                {"error": "no", "type": "urn:vivarium:problem:no-such-review", "status": 404, "detail": "no review"}""");

        assertThat(ProblemJson.read(fields)).isEqualTo(new Failure.Unrecognized("no-such-review", 404, "no review"));
    }

    @Test
    void unknownFailureKeepsItsSlugStatusAndDetail() {
        var fields = Json.answer("""
                {"error": "no", "type": "urn:vivarium:problem:out-of-luck", "status": 418, "detail": "not today"}""");

        assertThat(ProblemJson.read(fields)).isEqualTo(new Failure.Unrecognized("out-of-luck", 418, "not today"));
    }

    @Test
    void errorOfAProxyIsAFailure() {
        assertThat(ProblemJson.read(Json.answer("{\"error\": \"bad gateway\"}")))
                .isEqualTo(new Failure.Unrecognized("unrecognized", 500, "bad gateway"));
    }

    @Test
    void sizesAreShownInMegabytesWithTwoDecimals() {
        var json = new String(
                Json.bytes(out -> ProblemJson.write(out, new Failure.FileTooLarge(100L << 20, 157_810_688))),
                StandardCharsets.UTF_8);

        assertThat(json).contains("\"max_size_mb\":100,").contains("\"uploaded_size_mb\":150.5,");
    }

    @Test
    void endedSessionHasTheErrorThatClientsExpect() {
        var failure = new Failure.NoSuchSandbox(ID.value(), Optional.of(END));
        var json = Json.answer(new String(Json.bytes(out -> ProblemJson.write(out, failure)), StandardCharsets.UTF_8));

        assertThat(json.string("error")).isEqualTo("Invalid or expired session");
        assertThat(json.string("detail")).startsWith("Invalid or expired session '" + ID.value() + "' (ended ");
        assertThat(json.object("end").string("cause")).isEqualTo("idle");
    }

    @Test
    void longCommandIsTruncatedInTheProblem() {
        var failure = new Failure.PolicyRefused("x".repeat(5000), "no", Optional.empty());
        var json = Json.answer(new String(Json.bytes(out -> ProblemJson.write(out, failure)), StandardCharsets.UTF_8));

        assertThat(json.string("command")).hasSize(200);
    }

    /// Returns an instance whose components differ from all defaults.
    private static Failure example(Class<?> type) {
        var components = type.getRecordComponents();
        var types = Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
        var values = Arrays.stream(components).map(ProblemJsonTest::value).toArray();
        try {
            return (Failure) type.getDeclaredConstructor(types).newInstance(values);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(type + " needs an example value", e);
        }
    }

    private static Object value(RecordComponent component) {
        Class<?> type = component.getType();
        if (type == String.class) {
            return "a \"" + component.getName() + "\"\n€";
        } else if (type == int.class) {
            return component.getName().equals("status") ? 499 : 7;
        } else if (type == long.class) {
            return 123_456_789_012L;
        } else if (type == SandboxId.class) {
            return ID;
        } else if (type == ThreadId.class) {
            return new ThreadId("t 1");
        } else if (type == UserId.class) {
            return new UserId("u 1");
        } else if (type == TaskId.class) {
            return TASK;
        } else if (type == ReviewId.class) {
            return new ReviewId("revaaaaaaaaaaaaaaaaaaaa");
        } else if (type == Review.Status.class) {
            return Review.Status.APPROVED;
        } else if (type == Task.Status.class) {
            return Task.Status.RUNNING;
        } else if (type == Status.class) {
            return Status.PAUSED;
        } else if (type == End.class) {
            return END;
        } else if (type == Duration.class) {
            return Duration.ofSeconds(5);
        } else if (component.getName().equals("owners")) {
            return List.of(new UserId("u 1"), new UserId("u 2"));
        } else if (component.getName().equals("end")) {
            return Optional.of(END);
        } else if (component.getName().equals("task")) {
            return Optional.of(TASK);
        } else {
            return Optional.of("\\brm\\b");
        }
    }
}
