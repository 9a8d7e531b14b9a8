package dev.vivarium.json;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.model.End;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.Status;
import dev.vivarium.model.ThreadId;
import java.io.ByteArrayInputStream;
import java.lang.reflect.RecordComponent;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ProblemJsonTest {
    private static final SandboxId ID = new SandboxId("sbxaaaaaaaaaaaaaaaaaaaa");
    private static final End END = new End(End.Cause.IDLE, "unused for 30 min", Instant.parse("2026-01-01T10:00:00Z"));

    static Stream<Failure> everyFailure() {
        return records(Failure.class).map(ProblemJsonTest::example);
    }

    private static Stream<Class<?>> records(Class<?> type) {
        return type.isRecord()
                ? Stream.of(type)
                : Arrays.stream(type.getPermittedSubclasses()).flatMap(ProblemJsonTest::records);
    }

    @ParameterizedTest
    @MethodSource("everyFailure")
    void theClientRebuildsTheSameFailure(Failure failure) {
        byte[] json = Json.bytes(out -> ProblemJson.write(out, failure));

        assertThat(ProblemJson.read(Json.answer(new ByteArrayInputStream(json))))
                .isEqualTo(failure);
    }

    @ParameterizedTest
    @MethodSource("everyFailure")
    void everyProblemHasTheMembersOfTheContract(Failure failure) {
        var json = Json.answer(new String(Json.bytes(out -> ProblemJson.write(out, failure)), StandardCharsets.UTF_8));

        assertThat(json.string("error")).isNotBlank();
        assertThat(json.string("type")).endsWith(failure.slug());
        assertThat(json.string("title")).isNotBlank();
        assertThat(json.integer("status")).isBetween(400L, 599L);
        assertThat(json.string("detail")).isEqualTo(failure.sentence());
    }

    @Test
    void aFailureOfANewerServerKeepsItsNameStatusAndSentence() {
        var fields = Json.answer("""
                {"error": "no", "type": "urn:vivarium:problem:out-of-luck", "status": 418, "detail": "not today"}""");

        assertThat(ProblemJson.read(fields)).isEqualTo(new Failure.Unrecognized("out-of-luck", 418, "not today"));
    }

    @Test
    void anErrorOfSomethingInBetweenIsStillAFailure() {
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
    void theErrorOfAnEndedSessionIsTheSentenceClientsCompare() {
        var failure = new Failure.NoSuchSandbox(ID.value(), Optional.of(END));
        var json = Json.answer(new String(Json.bytes(out -> ProblemJson.write(out, failure)), StandardCharsets.UTF_8));

        assertThat(json.string("error")).isEqualTo("Invalid or expired session");
        assertThat(json.string("detail")).startsWith("Invalid or expired session '" + ID.value() + "' (ended ");
        assertThat(json.object("end").string("cause")).isEqualTo("idle");
    }

    @Test
    void aLongRefusedCommandIsCut() {
        var failure = new Failure.PolicyRefused("x".repeat(5000), "no", Optional.empty());
        var json = Json.answer(new String(Json.bytes(out -> ProblemJson.write(out, failure)), StandardCharsets.UTF_8));

        assertThat(json.string("command")).hasSize(200);
    }

    /// An instance of the record whose every component differs from every default.
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
        } else if (type == Status.class) {
            return Status.PAUSED;
        } else if (type == End.class) {
            return END;
        } else if (type == Duration.class) {
            return Duration.ofSeconds(5);
        } else if (component.getName().equals("end")) {
            return Optional.of(END);
        } else {
            return Optional.of("\\brm\\b");
        }
    }
}
