package dev.vivarium.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
final class LoopBudgetTest {
    private static final int PIECE = 32 * 1024;
    private static final Duration NEVER = Duration.ofHours(1);

    private volatile boolean stopped;

    @Test
    void busyLoopsLeaveACarrierToOtherThreads() throws Exception {
        List<Thread> loops = start(LoopBudgetTest::work);
        try {
            for (int probe = 0; probe < 20; probe++) {
                var ran = new CountDownLatch(1);
                Thread.ofVirtual().start(ran::countDown);
                assertThat(ran.await(20, TimeUnit.SECONDS)).isTrue();
            }
        } finally {
            stop(loops);
        }
    }

    @Test
    void everyWaitingLoopGetsAPermit() throws Exception {
        var done = new CountDownLatch(loops());
        List<Thread> loops = start(budget -> {
            for (int step = 0; step < 100; step++) {
                work(budget);
            }
            done.countDown();
        });
        try {
            assertThat(done.await(60, TimeUnit.SECONDS)).isTrue();
        } finally {
            stop(loops);
        }
    }

    @Test
    void blockedLoopLosesItsPermitToTheNext() throws Exception {
        var held = new CountDownLatch(loops());
        var go = new CountDownLatch(1);
        List<Thread> loops = start(budget -> {
            for (int step = 0; step < 10; step++) {
                work(budget);
            }
            held.countDown();
            awaitQuietly(go);
        });
        try {
            assertThat(held.await(60, TimeUnit.SECONDS)).isTrue();
        } finally {
            go.countDown();
            stop(loops);
        }
    }

    @Test
    void blockingGrantsNoFreeBytes() throws Exception {
        onVirtualThread(() -> {
            var budget = new LoopBudget(new CarrierPermits(2, NEVER), () -> 0);
            budget.spend(2 * PIECE);
            assertThat(budget.hasPermit()).isTrue();
            budget.blocks();
            assertThat(budget.hasPermit()).isFalse();
            budget.spend(1);
            assertThat(budget.hasPermit()).isTrue();
        });
    }

    @Test
    void loopWithTwoBudgetsNeedsOnePermit() throws Exception {
        onVirtualThread(() -> {
            var permits = new CarrierPermits(2, NEVER);
            var reading = new LoopBudget(permits, () -> 0);
            var writing = new LoopBudget(permits, () -> 0);
            reading.spend(2 * PIECE);
            writing.spend(2 * PIECE);
            assertThat(writing.hasPermit()).isTrue();
            reading.blocks();
            var other = new LoopBudget(permits, () -> 0);
            other.spend(2 * PIECE);
            assertThat(other.hasPermit()).isTrue();
        });
    }

    @Test
    void slowLoopNeedsNoPermit() throws Exception {
        onVirtualThread(() -> {
            var seconds = new AtomicLong();
            var budget = new LoopBudget(new CarrierPermits(2, NEVER), () -> TimeUnit.SECONDS.toNanos(seconds.get()));
            for (int step = 0; step < 100; step++) {
                budget.spend(PIECE);
                assertThat(budget.hasPermit()).isFalse();
                seconds.incrementAndGet();
            }
        });
    }

    private static void onVirtualThread(Runnable task) throws Exception {
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            threads.submit(task).get();
        }
    }

    private static int loops() {
        return 8 * Runtime.getRuntime().availableProcessors();
    }

    private List<Thread> start(Consumer<LoopBudget> body) {
        var loops = new ArrayList<Thread>();
        for (int i = 0; i < loops(); i++) {
            loops.add(Thread.ofVirtual().start(() -> {
                var budget = new LoopBudget();
                while (!stopped) {
                    body.accept(budget);
                }
            }));
        }
        return loops;
    }

    private void stop(List<Thread> loops) throws InterruptedException {
        stopped = true;
        for (Thread loop : loops) {
            loop.join();
        }
    }

    /// One step of a loop that never blocks.
    private static void work(LoopBudget budget) {
        var sum = new AtomicLong();
        for (int i = 0; i < PIECE; i++) {
            sum.addAndGet(i);
        }
        budget.spend(PIECE);
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
