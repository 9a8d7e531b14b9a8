package dev.vivarium.core.guest;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// State of the takeover of kept processes from a guest. While it is in progress, callers wait, because the processes
/// are not listed yet. Thread-safe.
public final class ProcessHandover {
    /// Time limit of one step of the takeover. Only a hostile guest needs longer, even on a busy host.
    private static final Duration PART = Duration.ofSeconds(5);

    private static final Duration WHOLE = PART.multipliedBy(3);

    private volatile CountDownLatch settled = new CountDownLatch(0);

    /// Marks the takeover as pending, before callers can ask.
    public void expect() {
        settled = new CountDownLatch(1);
    }

    public void done() {
        settled.countDown();
    }

    public void await() {
        await(settled, WHOLE);
    }

    /// Waits for one step of the takeover.
    public static void await(CountDownLatch part) {
        await(part, PART);
    }

    private static void await(CountDownLatch latch, Duration timeout) {
        try {
            latch.await(timeout.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
