package dev.vivarium.core.exec;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/// Beginning of a stream, up to a limit. The limit holds even if the guest ignores it. Confined to one thread.
final class BoundedOutput {
    private final ByteArrayOutputStream kept = new ByteArrayOutputStream();
    private final long limit;

    BoundedOutput(long limit) {
        this.limit = limit;
    }

    void add(byte[] bytes) {
        kept.write(bytes, 0, (int) Math.min(bytes.length, limit - kept.size()));
    }

    /// Reports whether the limit truncated the stream, whose full length is `total`.
    boolean isShort(long total) {
        return total > limit;
    }

    String text() {
        return kept.toString(StandardCharsets.UTF_8);
    }
}
