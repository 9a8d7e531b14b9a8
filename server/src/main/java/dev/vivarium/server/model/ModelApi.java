package dev.vivarium.server.model;

import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import java.net.http.HttpRequest;
import java.util.Optional;

/// Model APIs that the gateway supports. They differ in the key header, the error body and the token usage. Immutable.
enum ModelApi {
    /// Anthropic's Messages API.
    ANTHROPIC {
        @Override
        void authorize(HttpRequest.Builder request, String key) {
            request.setHeader("x-api-key", key);
        }

        @Override
        byte[] error(String type, String sentence) {
            return Json.bytes(out -> {
                out.writeStringProperty("type", "error");
                out.writeObjectPropertyStart("error");
                out.writeStringProperty("type", type);
                out.writeStringProperty("message", sentence);
                out.writeEndObject();
            });
        }

        @Override
        String errorType(ModelError.Kind kind) {
            return kind.anthropic;
        }

        @Override
        void whole(JsonFields answer, TokenCounter tally) {
            tally.part(answer, "usage").ifPresent(usage -> usage(usage, tally));
            tally.finished();
            tally.model(answer.optionalString("model"));
            for (JsonFields block : answer.findObjects("content")) {
                countText(block, tally);
                tally.outputText(block.optionalObject("input").map(JsonFields::text));
            }
        }

        @Override
        void event(JsonFields event, TokenCounter tally) {
            switch (event.optionalString("type").orElse("")) {
                case "message_start" ->
                    event.optionalObject("message").ifPresent(message -> {
                        tally.part(message, "usage").ifPresent(usage -> usage(usage, tally));
                        tally.model(message.optionalString("model"));
                    });
                case "content_block_delta" -> event.optionalObject("delta").ifPresent(delta -> countText(delta, tally));
                case "message_delta" -> tally.part(event, "usage").ifPresent(usage -> total(usage, tally));
                // An error ends the stream, and SDKs handle it as an error.
                case "message_stop", "error" -> tally.ended();
                default -> {}
            }
        }

        private void countText(JsonFields words, TokenCounter tally) {
            for (String field : new String[] {"text", "thinking", "partial_json"}) {
                tally.outputText(words.optionalString(field));
            }
        }

        /// Reads the last usage of a stream. A usage without output tokens is not the last: the first usage has
        /// none yet.
        private void total(JsonFields usage, TokenCounter tally) {
            usage(usage, tally);
            if (tally.tokenCount(usage, "output_tokens").isPresent()) {
                tally.finished();
            }
        }

        /// Reads a usage. Later usages are cumulative and may omit unchanged fields.
        private void usage(JsonFields usage, TokenCounter tally) {
            tally.tokenCount(usage, "input_tokens").ifPresent(tally::input);
            tally.tokenCount(usage, "output_tokens").ifPresent(tally::output);
            tally.tokenCount(usage, "cache_read_input_tokens").ifPresent(tally::cacheRead);
            tally.tokenCount(usage, "cache_creation_input_tokens").ifPresent(tally::cacheWrite);
            tally.part(usage, "cache_creation")
                    .flatMap(created -> tally.tokenCount(created, "ephemeral_1h_input_tokens"))
                    .ifPresent(tally::longCacheWrite);
        }
    },

    /// OpenAI's chat completions API, which many providers implement.
    OPENAI {
        @Override
        void authorize(HttpRequest.Builder request, String key) {
            request.setHeader("Authorization", "Bearer " + key);
        }

        @Override
        byte[] error(String type, String sentence) {
            return Json.bytes(out -> {
                out.writeObjectPropertyStart("error");
                out.writeStringProperty("message", sentence);
                out.writeStringProperty("type", type);
                out.writeNullProperty("param");
                out.writeStringProperty("code", type);
                out.writeEndObject();
            });
        }

        @Override
        String errorType(ModelError.Kind kind) {
            return kind.openai;
        }

        @Override
        void whole(JsonFields answer, TokenCounter tally) {
            tally.finished();
            event(answer, tally);
        }

        @Override
        void event(JsonFields event, TokenCounter tally) {
            tally.part(event, "usage").ifPresent(usage -> usage(usage, tally));
            tally.model(event.optionalString("model"));
            if (event.has("error")) {
                tally.ended();
            }
            for (JsonFields choice : event.findObjects("choices")) {
                // Some providers send only this at the end. Some send an empty value in every event.
                choice.optionalString("finish_reason")
                        .filter(why -> !why.isEmpty())
                        .ifPresent(_ -> tally.ended());
                Optional<JsonFields> delta = choice.optionalObject("delta").or(() -> choice.optionalObject("message"));
                delta.ifPresent(words -> countText(words, tally));
            }
        }

        private void usage(JsonFields usage, TokenCounter tally) {
            long cached = tally.part(usage, "prompt_tokens_details")
                    .flatMap(details -> tally.tokenCount(details, "cached_tokens"))
                    .orElse(0L);
            tally.tokenCount(usage, "prompt_tokens").ifPresent(all -> tally.input(Math.max(0, all - cached)));
            tally.tokenCount(usage, "completion_tokens").ifPresent(tally::output);
            tally.cacheRead(cached);
            tally.finished();
        }

        private void countText(JsonFields words, TokenCounter tally) {
            tally.outputText(words.optionalString("content"));
            tally.outputText(words.optionalString("reasoning_content"));
            for (JsonFields call : words.findObjects("tool_calls")) {
                call.optionalObject("function").ifPresent(f -> tally.outputText(f.optionalString("arguments")));
            }
        }
    };

    abstract void authorize(HttpRequest.Builder request, String key);

    /// Encodes an error as the SDKs of this API expect it.
    abstract byte[] error(String type, String sentence);

    abstract String errorType(ModelError.Kind kind);

    /// Counts the tokens of a response without streaming.
    abstract void whole(JsonFields answer, TokenCounter tally);

    /// Counts the tokens of one event of a stream.
    abstract void event(JsonFields event, TokenCounter tally);
}
