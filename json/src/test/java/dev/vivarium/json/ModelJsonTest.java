package dev.vivarium.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Outline of a model request, and the request for token counts.
class ModelJsonTest {
    @Test
    void outlineIsReadAtAnyPosition() {
        var outline = ModelJson.outline(
                bytes(
                        "{\"messages\":[{\"model\":\"inner\",\"stream\":false}],\"stream\":true,\"model\":\"gpt-4o\",\"x\":1}"));

        assertThat(outline.model()).contains("gpt-4o");
        assertThat(outline.isStreamed()).isTrue();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{} | {\"stream_options\":{\"include_usage\":true}}",
                " { \"a\":1} |  {\"stream_options\":{\"include_usage\":true}, \"a\":1}",
                "{\"ü\":\"ü\",\"stream_options\":{}} | {\"ü\":\"ü\",\"stream_options\":{\"include_usage\":true}}",
                "{\"stream_options\":{\"x\":{\"include_usage\":1}}} | {\"stream_options\":{\"include_usage\":true,\"x\":{\"include_usage\":1}}}",
                "{\"stream_options\":{\"include_usage\":false}} | {\"stream_options\":{\"include_usage\":false}}",
                "{\"stream_options\":null} | {\"stream_options\":null}"
            })
    void usageIsRequestedUnlessTheClientDecides(String body, String expected) {
        byte[] bytes = bytes(body);

        assertThat(new String(ModelJson.outline(bytes).askingForUsage(bytes), StandardCharsets.UTF_8).strip())
                .isEqualTo(expected.strip());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "[]", "{", "{} x", "{\"a\":}", "nonsense"})
    void malformedRequestIsRejected(String body) {
        assertThatThrownBy(() -> ModelJson.outline(bytes(body))).hasMessageContaining("body");
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
