package dev.vivarium.core.guest;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// Whether what a guest kept is being taken over from it. Who asks meanwhile waits: they must not hear that it is gone.
/// Thread-safe.
public final class ProcessHandover {
    /// How long a guest may take with a part of it, on a busy host too. Only one that means harm needs longer.
    private static final Duration PART = Duration.ofSeconds(5);

    private static final Duration WHOLE = PART.multipliedBy(3);

    private volatile CountDownLatch settled = new CountDownLatch(0);

    /// Says that it follows, before anybody can ask.
    public void expect() {
        settled = new CountDownLatch(1);
    }

    public void done() {
        settled.countDown();
    }

    public void await() {
        await(settled, WHOLE);
    }

    /// Waits for a part of it.
    public static void await(CountDownLatch part) {
        await(part, PART);
    }

    private static void await(CountDownLatch latch, Duration patience) {
        try {
            latch.await(patience.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
