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

/// Response body of a model, with backpressure and a timeout for silence. For one reader. Any thread may call [#close].
///
/// It requests the next piece after the reader has taken the last one, so a slow reader slows the sender. The JDK's own
/// stream has no timeout.
final class BodyStream implements BodySubscriber<BodyStream>, AutoCloseable {
    /// Holds at most one piece and the end, because only one piece is requested at a time.
    private final LinkedBlockingQueue<Signal> signals = new LinkedBlockingQueue<>();

    private final CompletableFuture<Flow.Subscription> subscription = new CompletableFuture<>();

    private volatile boolean closed;

    private sealed interface Signal {
        @SuppressWarnings("ArrayRecordComponent") // Never compared.
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

    /// Waits for the next piece, or returns nothing at the end. Throws [ModelError] if the model is silent for too
    /// long or the connection breaks. Throws [IOException] if the stream is closed.
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

    /// Cancels the response. Idempotent.
    @Override
    public void close() {
        closed = true;
        signals.add(new Signal.Closed());
        if (subscription.isDone()) {
            subscription.join().cancel();
        }
    }
}
