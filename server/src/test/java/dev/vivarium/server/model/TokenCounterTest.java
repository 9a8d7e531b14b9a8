package dev.vivarium.server.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.model.Usage;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Token usage of a response, as the model reports it, or estimated if the report is invalid.
class TokenCounterTest {
    private static final Prices PRICES = Prices.of(Optional.empty());

    /// Bytes of the request, estimated as ten tokens.
    private static final long REQUEST_BYTES = 40;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"input_tokens\":-100000,\"output_tokens\":-5}",
                "{\"input_tokens\":9007199254740993,\"output_tokens\":9007199254740993}",
                "{\"input_tokens\":1e999,\"output_tokens\":1e999}",
                "{\"input_tokens\":99999999999999999999,\"output_tokens\":null}",
                "{\"input_tokens\":\"0\",\"output_tokens\":\"NaN\"}",
                "{\"input_tokens\":0.5,\"output_tokens\":[]}",
                "{\"input_tokens\":0,\"output_tokens\":0,\"cache_read_input_tokens\":-1}",
                "{\"input_tokens\":0,\"output_tokens\":0,\"cache_creation\":{\"ephemeral_1h_input_tokens\":-1}}",
                "{\"input_tokens\":0,\"output_tokens\":0,\"cache_creation\":-1}",
                "{}",
                "[]",
                "-7",
                "null"
            })
    void invalidAnthropicUsageIsEstimated(String usage) {
        var whole = new TokenCounter(ModelApi.ANTHROPIC, "claude-sonnet-4-5");
        assertThat(whole.whole("{\"content\":[{\"type\":\"text\",\"text\":\"12345678\"},"
                        + "{\"type\":\"tool_use\",\"input\":{\"a\":1}}],\"usage\":" + usage + "}"))
                .isTrue();
        assertEstimated(whole, 4);

        var stream = new TokenCounter(ModelApi.ANTHROPIC, "claude-sonnet-4-5");
        stream.event("{\"type\":\"message_start\",\"message\":{\"usage\":" + usage + "}}");
        stream.event("{\"type\":\"content_block_delta\",\"delta\":{\"text\":\"12345678\"}}");
        stream.event("{\"type\":\"message_delta\",\"usage\":" + usage + "}");
        assertEstimated(stream, 2);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"prompt_tokens\":-100000,\"completion_tokens\":-5}",
                "{\"prompt_tokens\":1e999,\"completion_tokens\":9007199254740993}",
                "{\"prompt_tokens\":\"0\",\"completion_tokens\":{}}",
                "{\"prompt_tokens\":0,\"completion_tokens\":0,\"prompt_tokens_details\":{\"cached_tokens\":-8}}",
                "{\"prompt_tokens\":0,\"completion_tokens\":0,\"prompt_tokens_details\":7}",
                "{}",
                "true",
                "null"
            })
    void invalidOpenAiUsageIsEstimated(String usage) {
        var whole = new TokenCounter(ModelApi.OPENAI, "gpt-4o");
        assertThat(whole.whole("{\"choices\":[{\"message\":{\"content\":\"12345678\"}}],\"usage\":" + usage + "}"))
                .isTrue();
        assertEstimated(whole, 2);

        var stream = new TokenCounter(ModelApi.OPENAI, "gpt-4o");
        stream.event("{\"choices\":[{\"delta\":{\"content\":\"12345678\"}}]}");
        stream.event("{\"choices\":[],\"usage\":" + usage + "}");
        stream.event("[DONE]");
        assertEstimated(stream, 2);
    }

    @Test
    void earlierUsageIsALowerBoundOfTheEstimate() {
        var counter = new TokenCounter(ModelApi.ANTHROPIC, "claude-sonnet-4-5");
        counter.event(
                "{\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":500,\"output_tokens\":1}}}");
        counter.event("{\"type\":\"content_block_delta\",\"delta\":{\"text\":\"12345678\"}}");
        counter.event("{\"type\":\"message_delta\",\"usage\":{\"output_tokens\":-5}}");

        Usage usage = counter.usage(REQUEST_BYTES, PRICES);
        assertThat(counter.isEstimated()).isTrue();
        assertThat(usage.inputTokens()).isEqualTo(500);
        assertThat(usage.outputTokens()).isEqualTo(2);
    }

    @Test
    void streamEndWithoutUsageIsEstimated() {
        var counter = new TokenCounter(ModelApi.ANTHROPIC, "claude-sonnet-4-5");
        counter.event("{\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":10,\"output_tokens\":1}}}");
        counter.event("{\"type\":\"content_block_delta\",\"delta\":{\"text\":\"12345678\"}}");
        counter.event("{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}");

        assertEstimated(counter, 2);
    }

    @Test
    void validUsageIsUsedUnchanged() {
        var counter = new TokenCounter(ModelApi.ANTHROPIC, "claude-sonnet-4-5");
        counter.event("{\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":0,\"output_tokens\":1,"
                + "\"cache_read_input_tokens\":null,\"cache_creation\":null}}}");
        counter.event("{\"type\":\"content_block_delta\",\"delta\":{\"text\":\"12345678\"}}");
        counter.event("{\"type\":\"message_delta\",\"usage\":{\"output_tokens\":0}}");

        assertThat(counter.isEstimated()).isFalse();
        assertThat(counter.usage(REQUEST_BYTES, PRICES).inputTokens()).isZero();
        assertThat(counter.usage(REQUEST_BYTES, PRICES).outputTokens()).isZero();
    }

    @Test
    void unparsableTextDoesNotHideTheUsage() {
        var counter = new TokenCounter(ModelApi.ANTHROPIC, "claude-sonnet-4-5");

        assertThat(counter.whole("{\"content\":[{\"text\":\"\\ud83d\"}],"
                        + "\"usage\":{\"input_tokens\":7,\"output_tokens\":1}}"))
                .isTrue();
        assertThat(counter.isEstimated()).isFalse();
        assertThat(counter.usage(REQUEST_BYTES, PRICES).inputTokens()).isEqualTo(7);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "ANTHROPIC | {\"type\":\"message_stop\"} | true",
                "ANTHROPIC | {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}} | true",
                "ANTHROPIC | {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}} | false",
                "ANTHROPIC | {\"type\":\"ping\"} | false",
                "ANTHROPIC | [DONE] | false",
                "ANTHROPIC | {{{{ | false",
                "OPENAI | [DONE] | true",
                "OPENAI | {\"error\":{\"message\":\"overloaded\"}} | true",
                "OPENAI | {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]} | true",
                "OPENAI | {\"choices\":[{\"delta\":{\"content\":7},\"finish_reason\":\"length\"}]} | true",
                "OPENAI | {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":null}]} | false",
                "OPENAI | {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"\"}]} | false",
                "OPENAI | {\"choices\":[],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":1}} | false",
                "OPENAI | {\"type\":\"message_stop\"} | false",
                "OPENAI | {{{{ | false"
            })
    void lastEventEndsTheStream(ModelApi dialect, String event, boolean isLast) {
        var counter = new TokenCounter(dialect, "gpt-4o");
        assertThat(counter.hasEnded()).isFalse();
        counter.event(event);

        assertThat(counter.hasEnded()).isEqualTo(isLast);
        counter.event("{\"type\":\"ping\"}");
        assertThat(counter.hasEnded()).isEqualTo(isLast);
    }

    @Test
    void sseLinesEndWithAnyStandardLineEnd() {
        var seen = new ArrayList<String>();
        var lines = new SseParser(seen::add);
        lines.see("data: 1\r\rdata: 2\r\n\r\ndata: 3\n\nda".getBytes(StandardCharsets.UTF_8));
        lines.see("ta: 4".getBytes(StandardCharsets.UTF_8));
        lines.end();

        assertThat(seen).containsExactly("1", "2", "3", "4");
    }

    private static void assertEstimated(TokenCounter counter, long output) {
        Usage usage = counter.usage(REQUEST_BYTES, PRICES);
        assertThat(counter.isEstimated()).isTrue();
        assertThat(usage.inputTokens()).isEqualTo(10);
        assertThat(usage.outputTokens()).isEqualTo(output);
        assertThat(usage.costUsd()).isPositive();
    }
}
