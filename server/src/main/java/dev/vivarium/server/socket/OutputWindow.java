package dev.vivarium.server.socket;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.util.Optional;

/// How much output a client is sent before it says that it has taken it. A browser reads whatever comes and would have
/// to keep what its screen is too slow for; with a window it is the process that waits. Without one, TCP alone decides.
/// Thread-safe.
final class OutputWindow implements AutoCloseable {
    private final long limit;

    @GuardedBy("this")
    private long unseen;

    @GuardedBy("this")
    private boolean closed;

    OutputWindow(Optional<Long> characters) {
        this.limit = characters.orElse(Long.MAX_VALUE);
    }

    /// Waits until the client has taken enough of what it was sent.
    synchronized void sent(String text) {
        unseen += text.length();
        try {
            while (unseen >= limit && !closed) {
                wait();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    synchronized void seen(long characters) {
        if (characters < 0) {
            throw new SandboxException(new Failure.InvalidRequest("characters", "must not be negative"));
        }
        unseen = Math.max(0, unseen - characters);
        notifyAll();
    }

    /// Nobody waits any more. Idempotent.
    @Override
    public synchronized void close() {
        closed = true;
        notifyAll();
    }
}
