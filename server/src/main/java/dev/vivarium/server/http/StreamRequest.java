package dev.vivarium.server.http;

import dev.vivarium.server.settings.HttpConfig;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Request;
import org.jspecify.annotations.Nullable;

/// HTTP/2 request that measures how long the server waits for its body. Thread-safe.
final class StreamRequest extends Request.Wrapper {
    private final AtomicLong received = new AtomicLong();
    private volatile boolean isWaiting;

    /// Confined to the sweep.
    private long waited;

    StreamRequest(Request request) {
        super(request);
    }

    @Override
    public Content.@Nullable Chunk read() {
        Content.Chunk chunk = super.read();
        if (chunk != null) {
            received.addAndGet(chunk.remaining());
        }
        return chunk;
    }

    @Override
    public void demand(Runnable onContent) {
        isWaiting = true;
        super.demand(() -> {
            isWaiting = false;
            onContent.run();
        });
    }

    /// Reports whether the body is slower than the limits allow. One thread calls it, every `step`.
    boolean isTooSlow(Duration step, HttpConfig.Limits limits) {
        waited += isWaiting ? step.toNanos() : 0;
        return isWaiting && limits.isTooSlow(Duration.ofNanos(waited), received.get());
    }
}
