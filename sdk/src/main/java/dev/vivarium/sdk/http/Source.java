package dev.vivarium.sdk.http;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;

/// Content of an upload, with its progress and the failures of its source. The thread of the HTTP client reads it; the
/// thread of the caller observes it.
final class Source extends FilterInputStream {
    private volatile long taken;
    private volatile boolean reading;
    private volatile @Nullable IOException failure;

    Source(InputStream bytes) {
        super(bytes);
    }

    /// Returns the number of sent bytes.
    long taken() {
        return taken;
    }

    /// Reports whether the upload waits for the source.
    boolean isReading() {
        return reading;
    }

    /// Throws the failure of the source, if any. It is not a failure of the server.
    void check() {
        IOException cause = failure;
        if (cause != null) {
            throw new UncheckedIOException(cause);
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
