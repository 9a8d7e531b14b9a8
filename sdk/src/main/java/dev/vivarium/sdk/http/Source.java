package dev.vivarium.sdk.http;

import dev.vivarium.sdk.engine.Content;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/// The bytes of an upload on their way out, watched: how far it got, and whether a failure was the source's own.
/// Read by the HTTP client's worker, watched by the caller's.
final class Source extends FilterInputStream {
    private volatile long taken;
    private volatile boolean reading;
    private volatile @Nullable IOException failure;

    private Source(InputStream bytes) {
        super(bytes);
    }

    static Source of(Content content) throws IOException {
        return new Source(content.open());
    }

    /// How many bytes the connection has taken.
    long taken() {
        return taken;
    }

    /// Reports whether it is the source, not the server, that keeps the upload waiting.
    boolean isReading() {
        return reading;
    }

    /// Throws what went wrong on this side, if anything did.
    void check() throws IOException {
        IOException cause = failure;
        if (cause != null) {
            throw cause;
        }
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    // One worker writes the counter; the other only looks at it.
    @SuppressWarnings("NonAtomicVolatileUpdate")
    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
        reading = true;
        try {
            int count = super.read(target, offset, length);
            taken += Math.max(count, 0);
            return count;
        } catch (IOException e) {
            failure = e;
            throw e;
        } finally {
            reading = false;
        }
    }
}
