package dev.vivarium.core.exec;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/// The beginning of a stream, up to a limit that holds even for a guest that does not keep to it. Confined to one
/// reader.
final class BoundedOutput {
    private final ByteArrayOutputStream kept = new ByteArrayOutputStream();
    private final long limit;

    BoundedOutput(long limit) {
        this.limit = limit;
    }

    void add(byte[] bytes) {
        kept.write(bytes, 0, (int) Math.min(bytes.length, limit - kept.size()));
    }

    /// Reports whether the stream, which was `total` bytes long, is not all here because of the limit.
    boolean isShort(long total) {
        return total > limit;
    }

    String text() {
        return kept.toString(StandardCharsets.UTF_8);
    }
}
