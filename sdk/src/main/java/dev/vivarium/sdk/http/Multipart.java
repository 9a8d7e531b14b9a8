package dev.vivarium.sdk.http;

import dev.vivarium.model.SandboxId;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.util.OptionalLong;
import java.util.UUID;

/// The form of an upload: the session, the name, then the bytes, streamed. The name travels as a field of its own,
/// where any character survives; in a header it would have to be escaped. Immutable.
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

    String contentType() {
        return "multipart/form-data; boundary=" + boundary;
    }

    /// With a known length the server can refuse before it has read everything.
    BodyPublisher around(Source bytes, OptionalLong length) {
        BodyPublisher whole = BodyPublishers.concat(
                BodyPublishers.ofByteArray(head),
                BodyPublishers.ofInputStream(() -> bytes),
                BodyPublishers.ofByteArray(tail));
        return length.isPresent()
                ? BodyPublishers.fromPublisher(whole, head.length + length.getAsLong() + tail.length)
                : whole;
    }

    private String field(String name, String value) {
        return "--" + boundary + "\r\n"
                + "Content-Disposition: form-data; name=\"" + name + "\"\r\n"
                + "Content-Type: text/plain; charset=UTF-8\r\n\r\n"
                + value + "\r\n";
    }
}
