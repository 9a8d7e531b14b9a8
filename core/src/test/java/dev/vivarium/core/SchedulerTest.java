package dev.vivarium.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class SchedulerTest {
    private static final Duration SHORT = Duration.ofMillis(1);
    private static final Duration LONG = Duration.ofHours(1);

    private final AtomicLong nanos = new AtomicLong();
    private final Scheduler stopped = new Scheduler(InstantSource.system(), nanos::get);
    private final Scheduler scheduler = new Scheduler(InstantSource.system());

    @AfterEach
    void close() {
        stopped.close();
        scheduler.close();
    }

    @Test
    void workRepeatsAlsoAfterItThrows() throws Exception {
        var runs = new CountDownLatch(3);
        try (var _ = scheduler.jobs().every(SHORT, "test", () -> {
            runs.countDown();
            throw new IllegalStateException("intended by the test");
        })) {
            runs.await();
        }
    }

    @Test
    void aJobNeverRunsTwiceAtOnce() throws Exception {
        var running = new AtomicInteger();
        var max = new AtomicInteger();
        var runs = new CountDownLatch(20);
        try (var _ = scheduler.jobs().every(Duration.ZERO, Duration.ZERO, "test", () -> {
            max.accumulateAndGet(running.incrementAndGet(), Math::max);
            runs.countDown();
            running.decrementAndGet();
        })) {
            runs.await();
        }
        assertThat(max).hasValue(1);
    }

    @Test
    void aJobThatBlocksDoesNotDelayAnother() throws Exception {
        var release = new CountDownLatch(1);
        var ran = new CountDownLatch(1);
        try (var _ =
                scheduler.jobs().every(SHORT, "blocked", () -> await(release)).every(SHORT, "test", ran::countDown)) {
            ran.await();
            release.countDown();
        }
    }

    @Test
    void workIsDueByTheGivenTime() throws Exception {
        var first = new CountDownLatch(1);
        var second = new CountDownLatch(2);
        try (var jobs = stopped.jobs()) {
            jobs.every(LONG, "test", () -> {
                first.countDown();
                second.countDown();
            });
            var marker = new CountDownLatch(1);
            jobs.once(Duration.ZERO, "marker", marker::countDown);
            marker.await();
            assertThat(first.getCount()).isOne();
            nanos.addAndGet(LONG.toNanos());
            first.await();
            while (second.getCount() > 0) {
                nanos.addAndGet(LONG.toNanos());
                Thread.onSpinWait();
            }
        }
    }

    @Test
    void theFirstRunCanBeEarlier() throws Exception {
        var runs = new CountDownLatch(1);
        try (var _ = stopped.jobs().every(Duration.ZERO, LONG, "test", runs::countDown)) {
            runs.await();
        }
    }

    @Test
    void aClosedGroupHasWaitedForItsRunningJob() throws Exception {
        var barrier = new CyclicBarrier(2);
        var done = new AtomicBoolean();
        var jobs = scheduler.jobs().every(Duration.ZERO, LONG, "test", () -> {
            try {
                barrier.await();
            } catch (InterruptedException | BrokenBarrierException e) {
                throw new IllegalStateException(e);
            }
            done.set(true);
        });
        barrier.await();
        jobs.close();
        assertThat(done).isTrue();
    }

    @Test
    void aClosedGroupRunsNoMoreJobs() throws Exception {
        var runs = new AtomicInteger();
        var jobs = stopped.jobs();
        jobs.once(LONG, "before", runs::incrementAndGet);
        jobs.close();
        jobs.once(Duration.ZERO, "after", runs::incrementAndGet);
        nanos.addAndGet(2 * LONG.toNanos());
        var marker = new CountDownLatch(1);
        try (var others = stopped.jobs()) {
            others.once(Duration.ZERO, "marker", marker::countDown);
            marker.await();
        }
        assertThat(runs).hasValue(0);
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
