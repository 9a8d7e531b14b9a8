package dev.vivarium.server.http;

import dev.vivarium.model.RequestFailure;
import dev.vivarium.model.SandboxException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.io.Content;

/// Request body with a deadline for its end. Stateless.
///
/// A client that sends a byte now and then is never idle, so the idle timeout alone would never release its slot.
final class TimedBody {
    private TimedBody() {}

    /// Reads the first `max` bytes of a body, or all of it. Throws [RequestFailure.RequestTimeout] at the
    /// deadline. The connection is then not reusable.
    static byte[] await(Content.Source source, Duration timeout, int max) throws IOException {
        long deadline = System.nanoTime() + timeout.toNanos();
        var bytes = new ByteArrayOutputStream();
        boolean isLast = false;
        while (!isLast && bytes.size() < max) {
            Content.Chunk chunk = source.read();
            if (System.nanoTime() - deadline >= 0 || chunk == null && !isReady(source, deadline)) {
                if (chunk != null) {
                    chunk.release();
                }
                throw late(timeout);
            }
            if (chunk != null) {
                isLast = take(chunk, bytes, max);
            }
        }
        return bytes.toByteArray();
    }

    private static boolean take(Content.Chunk chunk, ByteArrayOutputStream bytes, int max) throws IOException {
        if (Content.Chunk.isFailure(chunk)) {
            throw new IOException("the body broke off", chunk.getFailure());
        }
        var piece = new byte[Math.min(chunk.remaining(), max - bytes.size())];
        chunk.get(piece, 0, piece.length);
        bytes.writeBytes(piece);
        chunk.release();
        return chunk.isLast();
    }

    private static boolean isReady(Content.Source source, long deadline) throws IOException {
        var ready = new CountDownLatch(1);
        source.demand(ready::countDown);
        try {
            return ready.await(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    private static SandboxException late(Duration timeout) {
        return new SandboxException(new RequestFailure.RequestTimeout(timeout));
    }
}
