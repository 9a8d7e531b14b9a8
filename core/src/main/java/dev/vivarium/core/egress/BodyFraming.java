package dev.vivarium.core.egress;

import java.util.List;
import java.util.regex.Pattern;

/// Where the body of a message ends. Immutable.
sealed interface BodyFraming {
    /// There is none.
    record Absent() implements BodyFraming {}

    record Length(long bytes) implements BodyFraming {}

    /// In pieces, each with its length before it.
    record Chunked() implements BodyFraming {}

    /// Where the connection ends.
    record UntilClose() implements BodyFraming {}

    Pattern NUMBER = Pattern.compile("[0-9]{1,18}");

    /// What the headers say; throws [IllegalArgumentException] when they say two things, or nothing that is known.
    /// `otherwise` is what silence means.
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

    /// The header that says it; empty when none does.
    default String header() {
        return switch (this) {
            case Length(long bytes) -> "Content-Length: " + bytes + "\r\n";
            case Chunked _ -> "Transfer-Encoding: chunked\r\n";
            case Absent _, UntilClose _ -> "";
        };
    }
}
