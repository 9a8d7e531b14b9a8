package dev.vivarium.server.model;

import dev.vivarium.model.SandboxId;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/// Memory limit for model requests in flight. Thread-safe.
///
/// The server has one limit and each sandbox has a lower one. A sandbox with many or slow requests reaches its own
/// limit first.
final class ModelMemoryLimit {
    private static final int KIB = 1024;
    private static final int LARGEST_REQUEST = 32 * KIB;

    /// An eighth of the heap, within bounds. The lower bound leaves room for one request.
    private static final int TOTAL =
            (int) Math.clamp(Runtime.getRuntime().maxMemory() / 8 / KIB, LARGEST_REQUEST, 256L * KIB);

    private static final int ONE_SANDBOX = Math.max(LARGEST_REQUEST, TOTAL / 4);

    private final Duration timeout;
    private final Semaphore all = new Semaphore(TOTAL, true);
    private final Map<SandboxId, Share> shares = new ConcurrentHashMap<>();

    /// @param timeout how long a request waits for memory
    ModelMemoryLimit(Duration timeout) {
        this.timeout = timeout;
    }

    /// Free memory of one sandbox, and the number of its requests that hold or wait for memory.
    private record Share(Semaphore free, int users) {
        Share with(int more) {
            return new Share(free, users + more);
        }
    }

    /// Memory of one request. Close it when the response is complete.
    final class Reservation implements AutoCloseable {
        private final SandboxId sandbox;
        private final Share share;
        private final int kib;

        private Reservation(SandboxId sandbox, Share share, int kib) {
            this.sandbox = sandbox;
            this.share = share;
            this.kib = kib;
        }

        @Override
        public void close() {
            all.release(kib);
            share.free.release(kib);
            release(sandbox);
        }
    }

    /// Allocates `bytes` and waits until they are available. Fails after the time limit.
    Reservation allocate(SandboxId sandbox, long bytes) throws ModelError {
        int kib = (int) ((bytes + KIB - 1) / KIB);
        Share share = shares.compute(
                sandbox, (_, old) -> (old == null ? new Share(new Semaphore(ONE_SANDBOX, true), 0) : old).with(1));
        boolean isAllocated = false;
        try {
            require(share.free, kib, "this sandbox has too many questions under way; try again");
            try {
                require(all, kib, "too many questions are under way; try again");
                isAllocated = true;
            } finally {
                if (!isAllocated) {
                    share.free.release(kib);
                }
            }
            return new Reservation(sandbox, share, kib);
        } finally {
            if (!isAllocated) {
                release(sandbox);
            }
        }
    }

    private void release(SandboxId sandbox) {
        shares.computeIfPresent(sandbox, (_, share) -> share.users == 1 ? null : share.with(-1));
    }

    private void require(Semaphore semaphore, int kib, String otherwise) throws ModelError {
        try {
            if (!semaphore.tryAcquire(kib, timeout.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new ModelError(ModelError.Kind.FULL, otherwise);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ModelError(ModelError.Kind.FULL, "the server is shutting down");
        }
    }
}
