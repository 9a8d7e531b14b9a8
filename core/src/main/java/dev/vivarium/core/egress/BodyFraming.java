package dev.vivarium.core.egress;

import java.util.List;
import java.util.regex.Pattern;

/// Framing of an HTTP message body. Immutable.
sealed interface BodyFraming {
    /// No body.
    record Absent() implements BodyFraming {}

    record Length(long bytes) implements BodyFraming {}

    record Chunked() implements BodyFraming {}

    /// The body ends when the connection closes.
    record UntilClose() implements BodyFraming {}

    Pattern NUMBER = Pattern.compile("[0-9]{1,18}");

    /// Determines the framing from the headers. Returns `otherwise` if no header specifies it. Throws
    /// [IllegalArgumentException] if the headers conflict or are unsupported.
    static BodyFraming of(HeaderLines headers, BodyFraming otherwise) {
        List<String> encodings = headers.all("transfer-encoding");
        List<String> lengths = headers.all("content-length");
        if (encodings.size() + lengths.size() > 1) {
            throw new IllegalArgumentException("the end of the body is said twice");
        }
        if (!encodings.isEmpty()) {
            if (!encodings.getFirst().equalsIgnoreCase("chunked")) {
                throw new IllegalArgumentException("only 'chunked' is understood as a transfer encoding");
            }
            return new Chunked();
        }
        if (lengths.isEmpty()) {
            return otherwise;
        }
        if (!NUMBER.matcher(lengths.getFirst()).matches()) {
            throw new IllegalArgumentException("the length of the body is no number");
        }
        return new Length(Long.parseLong(lengths.getFirst()));
    }

    /// Returns the header line of this framing, or an empty text if it has none.
    default String header() {
        return switch (this) {
            case Length(long bytes) -> "Content-Length: " + bytes + "\r\n";
            case Chunked _ -> "Transfer-Encoding: chunked\r\n";
            case Absent _, UntilClose _ -> "";
        };
    }
}
