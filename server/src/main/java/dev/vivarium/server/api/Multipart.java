package dev.vivarium.server.api;

import dev.vivarium.model.SandboxException;
import dev.vivarium.server.http.Exchange;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import org.eclipse.jetty.http.MultiPart;
import org.eclipse.jetty.io.Content;
import org.jspecify.annotations.Nullable;

/// Streaming parser of a `multipart/form-data` body. Confined to the worker that serves the request.
final class Multipart implements MultiPart.Parser.Listener {
    private static final String FORM_DATA = "multipart/form-data";
    private static final int MAX_PARTS = 16;
    private static final int MAX_HEADERS = 8 * 1024;
    private static final int PIECE = 64 * 1024;

    /// Length of the line after the last part, without the boundary.
    private static final int LAST_LINE = "\r\n----\r\n".length();

    private final Parts parts;
    private final OptionalLong length;
    private final String boundary;
    private ByteBuffer piece = ByteBuffer.allocate(0);

    /// Bytes of the body up to the end of `piece`.
    private long received;

    private @Nullable String disposition;
    private @Nullable RuntimeException failure;
    private boolean complete;

    private Multipart(Parts parts, OptionalLong length, String boundary) {
        this.parts = parts;
        this.length = length;
        this.boundary = boundary;
    }

    /// Receiver of the parts. For each part, the parser calls `begin`, then `content` any number of times, then
    /// `end`.
    interface Parts {
        /// @param size size of the content if no part follows; empty if the client did not declare a length
        void begin(String name, Optional<String> filename, OptionalLong size);

        void content(byte[] bytes, int offset, int length);

        void end();
    }

    static void read(Exchange exchange, Parts parts) throws IOException {
        String boundary = boundary(exchange);
        var multipart = new Multipart(parts, exchange.contentLength(), boundary);
        var parser = new MultiPart.Parser(boundary, multipart);
        parser.setMaxParts(MAX_PARTS);
        parser.setPartHeadersMaxLength(MAX_HEADERS);
        // The stream stays open: closing it would fail the request, and the server could not discard the rest after a
        // refusal.
        InputStream body = exchange.body();
        byte[] piece = new byte[PIECE];
        int count;
        while ((count = body.read(piece)) >= 0) {
            // The buffer can be reused: the parser counts the bytes of a boundary that spans two pieces and does not
            // keep them.
            parser.parse(Content.Chunk.from(multipart.next(ByteBuffer.wrap(piece, 0, count)), false));
            multipart.throwFailure();
        }
        parser.parse(Content.Chunk.EOF);
        multipart.throwFailure();
        if (!multipart.complete) {
            throw invalid("ends before its last boundary");
        }
    }

    private static String boundary(Exchange exchange) {
        String type = exchange.header("Content-Type").orElse("");
        String boundary = MultiPart.extractBoundary(type);
        if (!type.toLowerCase(Locale.ROOT).startsWith(FORM_DATA) || boundary == null) {
            throw Exchange.unsupportedMediaType("the body must be " + FORM_DATA + " with a boundary");
        }
        return boundary;
    }

    private ByteBuffer next(ByteBuffer bytes) {
        piece = bytes;
        received += bytes.remaining();
        return bytes;
    }

    /// Returns the size of the content that follows, if it is the last part.
    private OptionalLong sizeOfLastPart() {
        long before = received - piece.remaining();
        return length.isEmpty()
                ? length
                : OptionalLong.of(Math.max(0, length.getAsLong() - before - boundary.length() - LAST_LINE));
    }

    private void throwFailure() {
        if (failure != null) {
            throw failure;
        }
    }

    @Override
    public void onPartBegin() {
        disposition = null;
    }

    @Override
    public void onPartHeader(String name, String value) {
        if (name.equalsIgnoreCase("Content-Disposition")) {
            disposition = value;
        }
    }

    @Override
    public void onPartHeaders() {
        guarded(() -> {
            if (disposition == null) {
                throw invalid("has a part without Content-Disposition");
            }
            var parsed = ContentDisposition.parse(disposition);
            String name = parsed.name().orElseThrow(() -> invalid("has a part without a name"));
            parts.begin(name, parsed.filename(), sizeOfLastPart());
        });
    }

    @Override
    public void onPartContent(Content.Chunk chunk) {
        ByteBuffer buffer = chunk.getByteBuffer();
        guarded(() -> {
            if (buffer.hasArray()) {
                parts.content(buffer.array(), buffer.arrayOffset() + buffer.position(), buffer.remaining());
            } else {
                byte[] bytes = new byte[buffer.remaining()];
                buffer.duplicate().get(bytes);
                parts.content(bytes, 0, bytes.length);
            }
        });
    }

    @Override
    public void onPartEnd() {
        guarded(parts::end);
    }

    @Override
    public void onComplete() {
        complete = true;
    }

    @Override
    public void onFailure(Throwable cause) {
        guarded(() -> {
            throw invalid("cannot be read: " + cause.getMessage());
        });
    }

    /// Stores the first failure and skips all later steps. The parser ignores exceptions of its listener, so a
    /// refused file would be stored otherwise.
    private void guarded(Runnable step) {
        if (failure == null) {
            try {
                step.run();
            } catch (RuntimeException e) {
                failure = e;
            }
        }
    }

    private static SandboxException invalid(String rule) {
        return SandboxException.invalid("body", rule);
    }
}
