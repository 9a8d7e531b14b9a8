package dev.vivarium.sdk.http;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpTimeoutException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow.Subscription;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Streamed HTTP body with a timeout for silence, which the body stream of the JDK does not have. Confined to the
/// reading thread, except for [#close].
final class BodyStream extends InputStream implements BodySubscriber<BodyStream> {
    /// Delivery of the connection: bytes, or the end with an optional cause.
    private sealed interface Delivery {
        record Bytes(List<ByteBuffer> buffers) implements Delivery {}

        record End(@Nullable Throwable cause) implements Delivery {}
    }

    private final Duration silence;
    private final CompletableFuture<BodyStream> ready = CompletableFuture.completedFuture(this);
    /// Holds one requested delivery, one end of the connection and one end of [#close].
    private final BlockingQueue<Delivery> deliveries = new ArrayBlockingQueue<>(3);
    private final Queue<ByteBuffer> current = new ArrayDeque<>();
    private volatile @Nullable Subscription subscription;
    private volatile boolean closed;
    private Delivery.@Nullable End end;

    BodyStream(Duration silence) {
        this.silence = silence;
    }

    @Override
    public CompletionStage<BodyStream> getBody() {
        return ready;
    }

    @Override
    public void onSubscribe(Subscription given) {
        subscription = given;
        if (closed) {
            given.cancel();
        } else {
            given.request(1);
        }
    }

    @Override
    public void onNext(List<ByteBuffer> buffers) {
        hand(new Delivery.Bytes(buffers));
    }

    @Override
    public void onError(Throwable cause) {
        hand(new Delivery.End(cause));
    }

    @Override
    public void onComplete() {
        hand(new Delivery.End(null));
    }

    /// The queue is never full; see [#deliveries].
    private void hand(Delivery delivery) {
        deliveries.offer(delivery);
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, target.length);
        if (length == 0) {
            return 0;
        }
        ByteBuffer buffer = await();
        if (buffer == null) {
            return -1;
        }
        int count = Math.min(length, buffer.remaining());
        buffer.get(target, offset, count);
        return count;
    }

    @Override
    public int available() {
        ByteBuffer buffer = current.peek();
        return buffer == null ? 0 : buffer.remaining();
    }

    /// Returns a buffer that is not empty, or null at the end.
    private @Nullable ByteBuffer await() throws IOException {
        while (true) {
            ByteBuffer buffer = current.peek();
            if (buffer != null && buffer.hasRemaining()) {
                return buffer;
            }
            current.poll();
            if (buffer == null && !receive()) {
                return null;
            }
        }
    }

    /// Waits for the next delivery. Reports whether it has bytes.
    private boolean receive() throws IOException {
        Delivery delivery = end == null ? poll() : end;
        switch (delivery) {
            case Delivery.Bytes bytes -> {
                current.addAll(bytes.buffers());
                Objects.requireNonNull(subscription).request(1);
                return true;
            }
            case Delivery.End over -> {
                end = over;
                if (over.cause() != null) {
                    throw new IOException(over.cause().getMessage(), over.cause());
                }
                return false;
            }
        }
    }

    private Delivery poll() throws IOException {
        try {
            Delivery delivery = deliveries.poll(silence.toNanos(), TimeUnit.NANOSECONDS);
            if (delivery == null) {
                close();
                throw new HttpTimeoutException("no data for " + silence.toSeconds() + " s");
            }
            return delivery;
        } catch (InterruptedException e) {
            close();
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while reading from the server");
        }
    }

    /// Drops the rest of the body. Closes the connection unless the body has ended.
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        Subscription given = subscription;
        if (given != null) {
            given.cancel();
        }
        hand(new Delivery.End(new IOException("closed")));
    }
}
