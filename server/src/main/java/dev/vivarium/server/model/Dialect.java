package dev.vivarium.server.model;

import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import java.net.http.HttpRequest;
import java.util.Optional;

/// The two languages in which models are asked: where they differ in keys, errors and the count of tokens.
enum Dialect {
    /// Messages, by Anthropic.
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
        String errorType(Trouble.Kind kind) {
            return kind.anthropic;
        }

        @Override
        void whole(JsonFields answer, Tally tally) {
            tally.model(answer.optionalString("model"));
            answer.optionalObject("usage").ifPresent(usage -> usage(usage, tally));
            tally.finished();
        }

        @Override
        void event(JsonFields event, Tally tally) {
            switch (event.optionalString("type").orElse("")) {
                case "message_start" ->
                    event.optionalObject("message").ifPresent(message -> {
                        tally.model(message.optionalString("model"));
                        message.optionalObject("usage").ifPresent(usage -> usage(usage, tally));
                    });
                case "content_block_delta" ->
                    event.optionalObject("delta").ifPresent(delta -> {
                        for (String field : new String[] {"text", "thinking", "partial_json"}) {
                            tally.said(delta.optionalString(field));
                        }
                    });
                case "message_delta" -> {
                    event.optionalObject("usage").ifPresent(usage -> usage(usage, tally));
                    tally.finished();
                }
                default -> {}
            }
        }

        /// What comes later counts from the beginning again, and may leave out what has not changed.
        private void usage(JsonFields usage, Tally tally) {
            usage.optionalInteger("input_tokens").ifPresent(tally::input);
            usage.optionalInteger("output_tokens").ifPresent(tally::output);
            usage.optionalInteger("cache_read_input_tokens").ifPresent(tally::cacheRead);
            usage.optionalInteger("cache_creation_input_tokens").ifPresent(tally::cacheWrite);
            usage.optionalObject("cache_creation")
                    .flatMap(created -> created.optionalInteger("ephemeral_1h_input_tokens"))
                    .ifPresent(tally::longCacheWrite);
        }
    },

    /// Chat completions, by OpenAI and many others.
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
        String errorType(Trouble.Kind kind) {
            return kind.openai;
        }

        @Override
        void whole(JsonFields answer, Tally tally) {
            event(answer, tally);
            tally.finished();
        }

        @Override
        void event(JsonFields event, Tally tally) {
            tally.model(event.optionalString("model"));
            for (JsonFields choice : event.findObjects("choices")) {
                Optional<JsonFields> said = choice.optionalObject("delta").or(() -> choice.optionalObject("message"));
                said.ifPresent(words -> said(words, tally));
            }
            event.optionalObject("usage").ifPresent(usage -> {
                long cached = usage.optionalObject("prompt_tokens_details")
                        .flatMap(details -> details.optionalInteger("cached_tokens"))
                        .orElse(0L);
                usage.optionalInteger("prompt_tokens").ifPresent(all -> tally.input(Math.max(0, all - cached)));
                usage.optionalInteger("completion_tokens").ifPresent(tally::output);
                tally.cacheRead(cached);
                tally.finished();
            });
        }

        private void said(JsonFields words, Tally tally) {
            tally.said(words.optionalString("content"));
            tally.said(words.optionalString("reasoning_content"));
            for (JsonFields call : words.findObjects("tool_calls")) {
                call.optionalObject("function").ifPresent(f -> tally.said(f.optionalString("arguments")));
            }
        }
    };

    /// Adds the operator's key.
    abstract void authorize(HttpRequest.Builder request, String key);

    /// An error as its SDKs expect it.
    abstract byte[] error(String type, String sentence);

    abstract String errorType(Trouble.Kind kind);

    /// Counts an answer that came in one piece.
    abstract void whole(JsonFields answer, Tally tally);

    /// Counts one event of a stream.
    abstract void event(JsonFields event, Tally tally);
}
