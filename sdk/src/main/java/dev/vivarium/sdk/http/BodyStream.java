package dev.vivarium.sdk.http;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/// Body of a response of `java.net.http` with a timeout for silence, which the stream of the JDK does not have.
/// Confined to the reading thread, except for [#close], which ends a read in progress.
final class BodyStream extends FilterInputStream {
    private final Duration silence;
    private volatile boolean silent;

    BodyStream(InputStream body, Duration silence) {
        super(body);
        this.silence = silence;
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
        try {
            return in.available() > 0 ? in.read(target, offset, length) : await(target, offset, length);
        } catch (IOException e) {
            throw explained(e);
        }
    }

    private int await(byte[] target, int offset, int length) throws IOException {
        Future<?> timer = ForkJoinPool.commonPool().schedule(this::timeOut, silence.toNanos(), TimeUnit.NANOSECONDS);
        try {
            return in.read(target, offset, length);
        } finally {
            timer.cancel(false);
        }
    }

    private void timeOut() {
        silent = true;
        try {
            close();
        } catch (IOException _) {
            // The reader reports the timeout.
        }
    }

    /// The stream of the JDK reports every end with the message "closed" and an optional cause.
    private IOException explained(IOException e) {
        if (silent) {
            return new HttpTimeoutException("no data for " + silence.toSeconds() + " s");
        }
        return switch (e.getCause()) {
            case null -> e;
            case InterruptedException _ -> new InterruptedIOException("interrupted while reading from the server");
            case Throwable cause -> new IOException(cause.getMessage(), cause);
        };
    }
}
