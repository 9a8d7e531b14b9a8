package dev.vivarium.json;

import static dev.vivarium.model.Failure.InvalidRequest.require;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;

/// Partial reader of model requests. Stateless.
///
/// It reads only the outline, because the requests are large and their format belongs to the model provider.
public final class ModelJson {
    private static final int MAX_DEPTH = 500;

    private static final JsonFactory QUESTIONS = JsonFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(MAX_DEPTH)
                    .maxStringLength(Integer.MAX_VALUE)
                    .build())
            .build();

    private ModelJson() {}

    /// Outline of a model request. Immutable.
    ///
    /// @param isStreamed whether the response is streamed
    /// @param usage      the request's own setting of a token count at the end of the stream
    /// @param options    byte offset of the content of `stream_options`; 0 if absent
    /// @param start      byte offset of the content of the object
    /// @param maxTokens  maximum number of output tokens of all choices, if the request limits them
    public record Outline(
            Optional<String> model, boolean isStreamed, Usage usage, int options, int start, Optional<Long> maxTokens) {
        /// Setting of a token count in the request.
        public enum Usage {
            UNMENTIONED,
            /// The request asks for the count, or has an invalid value that the model will reject.
            WANTED,
            UNWANTED
        }

        /// Returns the request with a setting that asks for the token count, unless it has its own.
        public byte[] askingForUsage(byte[] body) {
            if (usage != Usage.UNMENTIONED) {
                return body;
            }
            boolean hasOptions = options > 0;
            int at = hasOptions ? options : start;
            String desiredState = hasOptions ? "\"include_usage\":true" : "\"stream_options\":{\"include_usage\":true}";
            boolean isLast = nextMark(body, at) == '}';
            var out = new ByteArrayOutputStream(body.length + desiredState.length() + 1);
            out.write(body, 0, at);
            out.writeBytes((isLast ? desiredState : desiredState + ",").getBytes(StandardCharsets.US_ASCII));
            out.write(body, at, body.length - at);
            return out.toByteArray();
        }

        private static char nextMark(byte[] body, int from) {
            int at = from;
            while (Character.isWhitespace(body[at])) {
                at++;
            }
            return (char) body[at];
        }
    }

    /// Reads one object completely. Throws `InvalidRequest` if the body is not an object.
    public static Outline outline(byte[] body) {
        try (var parser = QUESTIONS.createParser(ObjectReadContext.empty(), body)) {
            require(parser.nextToken() == JsonToken.START_OBJECT, "body", "must be a JSON object");
            var outline = object(parser);
            require(parser.nextToken() == null, "body", "must end after the JSON object");
            return outline;
        } catch (JacksonException e) {
            throw JsonFields.malformed(e);
        }
    }

    private static Outline object(JsonParser parser) {
        int start = offset(parser);
        Optional<String> model = Optional.empty();
        boolean isStreamed = false;
        var usage = Outline.Usage.UNMENTIONED;
        int options = 0;
        Optional<Long> maxTokens = Optional.empty();
        long choices = 1;
        for (String name = parser.nextName(); name != null; name = parser.nextName()) {
            JsonToken value = parser.nextToken();
            switch (name) {
                case "model" -> model = value == JsonToken.VALUE_STRING ? Optional.of(parser.getString()) : model;
                case "max_tokens", "max_completion_tokens" -> maxTokens = amount(parser, value);
                case "n" -> choices = amount(parser, value).orElse(1L);
                case "stream" -> isStreamed = value == JsonToken.VALUE_TRUE;
                case "stream_options" -> {
                    // The model rejects an invalid value, such as null or a number.
                    options = value == JsonToken.START_OBJECT ? offset(parser) : 0;
                    usage = value == JsonToken.START_OBJECT ? usage(parser) : Outline.Usage.WANTED;
                    continue;
                }
                default -> {}
            }
            parser.skipChildren();
        }
        long all = choices;
        return new Outline(model, isStreamed, usage, options, start, maxTokens.map(tokens -> tokens * all));
    }

    /// Returns a positive number that no model exceeds.
    private static Optional<Long> amount(JsonParser parser, JsonToken value) {
        return value == JsonToken.VALUE_NUMBER_INT
                        && parser.getNumberType() == JsonParser.NumberType.INT
                        && parser.getIntValue() > 0
                ? Optional.of((long) parser.getIntValue())
                : Optional.empty();
    }

    /// Reads the rest of `stream_options`.
    private static Outline.Usage usage(JsonParser parser) {
        var usage = Outline.Usage.UNMENTIONED;
        for (String name = parser.nextName(); name != null; name = parser.nextName()) {
            JsonToken value = parser.nextToken();
            if (name.equals("include_usage")) {
                usage = value == JsonToken.VALUE_FALSE ? Outline.Usage.UNWANTED : Outline.Usage.WANTED;
            }
            parser.skipChildren();
        }
        return usage;
    }

    private static int offset(JsonParser parser) {
        return (int) parser.currentLocation().getByteOffset();
    }
}
