package dev.vivarium.json;

import static dev.vivarium.model.Failure.InvalidRequest.require;

import dev.vivarium.model.SandboxException;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.function.Consumer;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonFactory;

/// Strict JSON reader and writer. Stateless.
///
/// It uses hand-written codecs over the streaming API, because reflection would slow down the start of the server.
/// Requests come from untrusted clients, so every dimension is limited. Responses come from a server that the client
/// chose, so only their nesting is limited.
public final class Json {
    /// No legitimate request nests deeper.
    static final int MAX_DEPTH = 64;

    private static final int MAX_NUMBER_LENGTH = 40;
    private static final int MAX_NAME_LENGTH = 256;
    private static final int MAX_REQUEST_CHARS = 1024 * 1024;

    private static final JsonFactory REQUESTS = JsonFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(MAX_DEPTH)
                    .maxDocumentLength(MAX_REQUEST_CHARS)
                    .maxStringLength(MAX_REQUEST_CHARS)
                    .maxNumberLength(MAX_NUMBER_LENGTH)
                    .maxNameLength(MAX_NAME_LENGTH)
                    .build())
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
            .build();

    private static final JsonFactory ANSWERS = JsonFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(MAX_DEPTH)
                    .maxStringLength(Integer.MAX_VALUE)
                    .build())
            .build();

    private Json() {}

    /// Reads one object that a client sent: UTF-8 without a byte order mark, no duplicate name, no trailing data.
    public static JsonFields request(byte[] body) {
        try (var parser = REQUESTS.createParser(ObjectReadContext.empty(), text(body))) {
            return JsonFields.read(parser);
        } catch (JacksonException e) {
            throw JsonFields.malformed(e);
        }
    }

    /// Reads an array of objects that a client sent. An error in an element names its position, as in
    /// `[3].event_type`.
    public static List<JsonFields> requests(byte[] body) {
        try (var parser = REQUESTS.createParser(ObjectReadContext.empty(), text(body))) {
            return JsonFields.readAll(parser);
        } catch (JacksonException e) {
            throw JsonFields.malformed(e);
        }
    }

    private static String text(byte[] body) {
        require(body.length > 0, "body", "must be a JSON object, not empty");
        String text = utf8(body);
        require(text.charAt(0) != '\uFEFF', "body", "must not begin with a byte order mark");
        return text;
    }

    /// Reads one object that a server sent. Ignores unknown fields, so that a newer server may add some.
    public static JsonFields answer(InputStream body) {
        try (var parser = ANSWERS.createParser(ObjectReadContext.empty(), body)) {
            return JsonFields.read(parser);
        } catch (JacksonException e) {
            throw JsonFields.malformed(e);
        }
    }

    /// Reads one object from one line of an event stream.
    public static JsonFields answer(String line) {
        try (var parser = ANSWERS.createParser(ObjectReadContext.empty(), line)) {
            return JsonFields.read(parser);
        } catch (JacksonException e) {
            throw JsonFields.malformed(e);
        }
    }

    /// Returns one object as UTF-8; `fields` writes its content.
    public static byte[] bytes(Consumer<JsonGenerator> fields) {
        var out = new ByteArrayOutputStream(512);
        write(out, fields);
        return out.toByteArray();
    }

    /// Returns one value as UTF-8.
    public static <T> byte[] bytes(JsonType<T> type, T value) {
        var out = new ByteArrayOutputStream(512);
        try (var generator = ANSWERS.createGenerator(ObjectWriteContext.empty(), out)) {
            type.write(generator, value);
        }
        return out.toByteArray();
    }

    /// Writes one object to `out`, which stays open.
    public static void write(OutputStream out, Consumer<JsonGenerator> fields) {
        try (var generator = ANSWERS.createGenerator(ObjectWriteContext.empty(), new Unclosed(out))) {
            generator.writeStartObject();
            fields.accept(generator);
            generator.writeEndObject();
        }
    }

    /// Writes a time with millisecond precision, as `2026-01-01T10:00:00Z`.
    public static void time(JsonGenerator out, String name, Instant moment) {
        out.writeStringProperty(name, moment.truncatedTo(ChronoUnit.MILLIS).toString());
    }

    /// Writes an integral value without a fraction.
    static void number(JsonGenerator out, String name, double value) {
        if (value == Math.rint(value) && Math.abs(value) < 1L << 53) {
            out.writeNumberProperty(name, (long) value);
        } else {
            out.writeNumberProperty(name, value);
        }
    }

    private static String utf8(byte[] body) {
        try {
            // A new decoder reports malformed input; the String constructor would silently replace it.
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(body))
                    .toString();
        } catch (CharacterCodingException e) {
            throw SandboxException.invalid("body", "must be UTF-8");
        }
    }

    /// Ignores close, because the stream belongs to the caller.
    private static final class Unclosed extends OutputStream {
        private final OutputStream out;

        Unclosed(OutputStream out) {
            this.out = out;
        }

        @Override
        public void write(int b) throws java.io.IOException {
            out.write(b);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws java.io.IOException {
            out.write(bytes, offset, length);
        }
    }
}
