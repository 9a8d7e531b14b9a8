package dev.vivarium.sdk.http;

import dev.vivarium.model.SandboxId;
import dev.vivarium.sdk.http.Transport.Body;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import java.util.UUID;

/// Form of an upload: session, name, then the streamed content. The name is a separate field, because a header would
/// need escaping. Immutable.
final class Multipart {
    private final String boundary = "vivarium-" + UUID.randomUUID();
    private final byte[] head;
    private final byte[] tail;

    Multipart(SandboxId id, String name) {
        this.head = (field("session_id", id.value())
                        + field("filename", name)
                        + "--" + boundary + "\r\n"
                        + "Content-Disposition: form-data; name=\"file\"; filename=\"upload\"\r\n"
                        + "Content-Type: application/octet-stream\r\n\r\n")
                .getBytes(StandardCharsets.UTF_8);
        this.tail = ("\r\n--" + boundary + "--\r\n").getBytes(StandardCharsets.US_ASCII);
    }

    /// With a known length, the server can refuse before it reads the content.
    Body around(InputStream bytes, OptionalLong length) {
        var parts = List.of(new ByteArrayInputStream(head), bytes, new ByteArrayInputStream(tail));
        return new Body(
                "multipart/form-data; boundary=" + boundary,
                new SequenceInputStream(Collections.enumeration(parts)),
                length.isPresent() ? head.length + length.getAsLong() + tail.length : -1);
    }

    private String field(String name, String value) {
        return "--" + boundary + "\r\n"
                + "Content-Disposition: form-data; name=\"" + name + "\"\r\n"
                + "Content-Type: text/plain; charset=UTF-8\r\n\r\n"
                + value + "\r\n";
    }
}
