package dev.vivarium.server.socket;

import static dev.vivarium.model.Failure.InvalidRequest.require;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.Optional;

/// Flow-control window for output that the client has not acknowledged. Thread-safe.
///
/// A browser buffers all messages that its terminal has not drawn yet. With a window, the process waits instead.
/// Without a window, only TCP limits the output.
final class OutputWindow implements AutoCloseable {
    private final long limit;

    @GuardedBy("this")
    private long unacknowledged;

    @GuardedBy("this")
    private boolean closed;

    OutputWindow(Optional<Long> characters) {
        this.limit = characters.orElse(Long.MAX_VALUE);
    }

    /// Counts the text as sent, and waits until the unacknowledged output is below the limit.
    synchronized void sent(String text) {
        unacknowledged += text.length();
        try {
            while (unacknowledged >= limit && !closed) {
                wait();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    synchronized void acknowledge(long characters) {
        require(characters >= 0, "characters", "must not be negative");
        unacknowledged = Math.max(0, unacknowledged - characters);
        notifyAll();
    }

    /// Releases the waiting thread. Idempotent.
    @Override
    public synchronized void close() {
        closed = true;
        notifyAll();
    }
}
