package dev.vivarium.server.model;

import java.io.IOException;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/// The body of an answer, piece by piece as it comes; the next is asked for when the last was taken, so that a slow
/// reader slows the sender. Reading it knows a bound of silence, which the JDK's own stream does not. For one reader;
/// [#close] may be called by anybody.
final class BodyStream implements BodySubscriber<BodyStream>, AutoCloseable {
    /// One piece is asked for at a time, so there are never more than that and the end.
    private final LinkedBlockingQueue<Signal> signals = new LinkedBlockingQueue<>();

    private final CompletableFuture<Flow.Subscription> subscription = new CompletableFuture<>();

    private volatile boolean closed;

    private sealed interface Signal {
        @SuppressWarnings("ArrayRecordComponent") // Compared by nobody.
        record Piece(byte[] bytes) implements Signal {}

        record End() implements Signal {}

        record Broken() implements Signal {}

        record Closed() implements Signal {}
    }

    @Override
    public CompletionStage<BodyStream> getBody() {
        return CompletableFuture.completedFuture(this);
    }

    @Override
    public void onSubscribe(Flow.Subscription given) {
        subscription.complete(given);
        if (closed) {
            given.cancel();
        } else {
            given.request(1);
        }
    }

    @Override
    public void onNext(List<ByteBuffer> buffers) {
        int length = buffers.stream().mapToInt(ByteBuffer::remaining).sum();
        var bytes = new byte[length];
        int at = 0;
        for (ByteBuffer buffer : buffers) {
            int count = buffer.remaining();
            buffer.get(bytes, at, count);
            at += count;
        }
        signals.add(new Signal.Piece(bytes));
    }

    @Override
    public void onError(Throwable why) {
        signals.add(new Signal.Broken());
    }

    @Override
    public void onComplete() {
        signals.add(new Signal.End());
    }

    /// Waits for the next piece; nothing at the end. Throws [ModelError] when it was silent for too long or broke
    /// off, and [IOException] when it was closed.
    Optional<byte[]> next(Duration silence) throws IOException, InterruptedException, ModelError {
        Signal signal = signals.poll(silence.toNanos(), TimeUnit.NANOSECONDS);
        return switch (signal) {
            case null ->
                throw new ModelError(ModelError.Kind.LATE, "the model was silent for " + silence.toSeconds() + " s");
            case Signal.Piece(byte[] bytes) -> {
                subscription.join().request(1);
                yield Optional.of(bytes);
            }
            case Signal.End end -> {
                signals.add(end);
                yield Optional.empty();
            }
            case Signal.Broken _ -> throw new ModelError(ModelError.Kind.UNREACHABLE, "the model's answer broke off");
            case Signal.Closed _ -> throw new IOException("the agent has hung up");
        };
    }

    /// Tells the sender that nobody reads on. Idempotent.
    @Override
    public void close() {
        closed = true;
        signals.add(new Signal.Closed());
        if (subscription.isDone()) {
            subscription.join().cancel();
        }
    }
}
