package dev.vivarium.core.sandbox;

import dev.vivarium.core.VitalThread;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/// What has to be done again and again, each at its own pace and never twice at once. One worker keeps the time; the
/// work itself runs in the background. Thread-safe.
final class Scheduler implements AutoCloseable {
    /// The worker looks at the ticker this often, so a ticker that jumps, as after a suspended host, is noticed
    /// soon.
    private static final Duration STEP = Duration.ofMillis(500);

    private final Engine engine;
    private final List<Beat> beats = new ArrayList<>();
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final Thread worker = VitalThread.unstarted("sandbox-pulse", this::run);

    Scheduler(Engine engine) {
        this.engine = engine;
    }

    private static final class Beat {
        private final String name;
        private final long everyNanos;
        private final Runnable work;
        private final AtomicBoolean busy = new AtomicBoolean();
        private long dueNanos;

        private Beat(String name, Duration every, Runnable work, long dueNanos) {
            this.name = name;
            this.everyNanos = every.toNanos();
            this.work = work;
            this.dueNanos = dueNanos;
        }
    }

    /// Adds work that is done at once and then after each `every`. Call it before [#start].
    Scheduler every(Duration every, String name, Runnable work) {
        beats.add(new Beat(name, every, work, engine.timeSource.nanos()));
        return this;
    }

    void start() {
        worker.start();
    }

    private void run() {
        try {
            do {
                beat();
            } while (!stopped.await(STEP.toMillis(), TimeUnit.MILLISECONDS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void beat() {
        long now = engine.timeSource.nanos();
        for (Beat beat : beats) {
            if (now - beat.dueNanos >= 0 && beat.busy.compareAndSet(false, true)) {
                beat.dueNanos = now + beat.everyNanos;
                engine.tasks.start(beat.name, () -> {
                    try {
                        beat.work.run();
                    } finally {
                        beat.busy.set(false);
                    }
                });
            }
        }
    }

    @Override
    public void close() {
        stopped.countDown();
        try {
            worker.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
