package dev.vivarium.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class JsonFieldsTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "{",
                "[]",
                "null",
                "1",
                "\"x\"",
                "{} {}",
                "{}x",
                "{\"a\":1,\"a\":2}",
                "{\"a\":NaN}",
                "{'a':1}",
                "{\"a\":01}",
                "{\"a\":1,}",
                "{\"a\":\"\n\"}",
                "// x\n{}",
                "\uFEFF{}"
            })
    void bodyMustBeOneStrictObject(String text) {
        assertThat(refusal(text).field()).isEqualTo("body");
    }

    @Test
    void invalidUtf8IsRejected() {
        byte[] overlong = {'{', '"', (byte) 0xC0, (byte) 0x80, '"', ':', '1', '}'};

        var thrown = catchThrowableOfType(SandboxException.class, () -> Json.request(overlong));

        assertThat(thrown.failure()).isEqualTo(new Failure.InvalidRequest("body", "must be UTF-8"));
    }

    @Test
    void utf16IsRejected() {
        var thrown = catchThrowableOfType(
                SandboxException.class, () -> Json.request("{\"a\":1}".getBytes(StandardCharsets.UTF_16LE)));

        assertThat(thrown.failure()).isInstanceOf(Failure.InvalidRequest.class);
    }

    @Test
    void deepNestingIsRejected() {
        String deep = "{\"a\":" + "[".repeat(10_000) + "]".repeat(10_000) + "}";

        assertThat(refusal(deep).rule())
                .isEqualTo("is not acceptable JSON: it is nested too deeply; at most 64 levels are read");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"[[[[", "NaN", "Infinity", "+1", "0x1F", "01", "tru", "'a'", "1e", "\u001e1", "/* a */ 1", "9"})
    void rejectionNamesNoParserOption(String start) {
        String value = start.equals("[[[[") ? "[".repeat(100) : start.equals("9") ? "9".repeat(100) : start;

        assertThat(refusal("{\"a\":" + value + "}").rule())
                .startsWith("is not acceptable JSON")
                .doesNotContain("`", "Feature", "Constraints", "enabl");
    }

    @Test
    void veryLongNumberIsRejected() {
        assertThat(refusal("{\"a\":" + "9".repeat(100_000) + "}").rule()).contains("Number value length");
    }

    @Test
    void numberOutOfRangeIsRejected() {
        var fields = request("{\"a\":1e400}");

        var thrown = catchThrowableOfType(SandboxException.class, () -> fields.number("a"));

        assertThat(thrown).hasMessageStartingWith("a must be a number");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{\"a\":{\"b\":1e999}} | a.b",
                "{\"a\":{\"b\":[1,{\"c\":-1e999}]}} | a.b[1].c",
                "{\"a\":{\"b\":[1.5,1.8e308]}} | a.b[1]"
            })
    void nestedNumberOutOfRangeIsRejected(String json, String field) {
        var object = request(json).object("a");

        assertThat(catchThrowableOfType(SandboxException.class, object::text))
                .hasMessage(field + " must be a number of ordinary size");
    }

    @Test
    void numbersInRangeAreKeptUnchanged() {
        String text = "{\"a\":1.7E308,\"b\":-0.5,\"c\":123456789012345678901234567890}";

        assertThat(request(text).text()).isEqualTo(text);
    }

    @Test
    void numberFieldsRejectOtherTypes() {
        var fields = request("{\"text\":\"30\",\"fraction\":1.5,\"huge\":99999999999999999999}");

        assertThat(catchThrowableOfType(SandboxException.class, () -> fields.number("text")))
                .hasMessage("text must be a number");
        assertThat(catchThrowableOfType(SandboxException.class, () -> fields.integer("fraction")))
                .hasMessage("fraction must be a whole number");
        assertThat(catchThrowableOfType(SandboxException.class, () -> fields.integer("huge")))
                .hasMessage("huge must be a whole number");
    }

    @Test
    void missingFieldIsReportedWithItsPath() {
        var fields = request("{\"limits\":{\"cpus\":null}}");

        assertThat(catchThrowableOfType(
                        SandboxException.class, () -> fields.object("limits").number("cpus")))
                .hasMessage("limits.cpus is required");
    }

    @Test
    void unknownFieldIsReported() {
        var fields = request("{\"command\":\"ls\",\"timeuot\":3}");
        fields.string("command");

        assertThat(catchThrowableOfType(SandboxException.class, fields::refuseOthers))
                .hasMessage("timeuot is not a field of this request");
    }

    @Test
    void loneSurrogateIsRejected() {
        var fields = request("{\"command\":\"\\ud800\"}");

        assertThat(catchThrowableOfType(SandboxException.class, () -> fields.string("command")))
                .hasMessage("command must be well-formed Unicode");
    }

    private static JsonFields request(String text) {
        return Json.request(text.getBytes(StandardCharsets.UTF_8));
    }

    private static Failure.InvalidRequest refusal(String text) {
        var thrown = catchThrowableOfType(SandboxException.class, () -> request(text));
        assertThat(thrown).as(text).isNotNull();
        return (Failure.InvalidRequest) thrown.failure();
    }
}
