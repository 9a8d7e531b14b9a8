package dev.vivarium.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class GroupQueueTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final long SECOND = 1_000_000_000;

    private final List<List<Integer>> groups = Collections.synchronizedList(new ArrayList<>());

    @Test
    void entriesThatArriveDuringAGroupFormTheNextGroups() throws Exception {
        var started = new CountDownLatch(1);
        var release = new CountDownLatch(1);
        var queue = queue(10, 3, first -> {
            started.countDown();
            await(release);
        });

        assertThat(queue.offer(0)).isTrue();
        started.await();
        for (int i = 1; i <= 6; i++) {
            assertThat(queue.offer(i)).isTrue();
        }
        release.countDown();
        queue.close(TIMEOUT);

        assertThat(groups).containsExactly(List.of(0, 1, 2), List.of(3, 4, 5), List.of(6));
    }

    @Test
    void aFullQueueRefusesEntries() throws Exception {
        var started = new CountDownLatch(1);
        var release = new CountDownLatch(1);
        var queue = queue(2, 1, first -> {
            started.countDown();
            await(release);
        });

        queue.offer(0);
        started.await();
        assertThat(queue.offer(1)).isTrue();
        assertThat(queue.offer(2, 0)).isTrue();
        assertThat(queue.room()).isZero();
        assertThat(queue.offer(3)).isFalse();
        assertThat(queue.offer(3, 1)).isFalse();
        release.countDown();
        queue.close(TIMEOUT);

        assertThat(groups).containsExactly(List.of(0), List.of(1), List.of(2));
    }

    @Test
    void aClosedQueueRefusesEntries() throws Exception {
        var queue = queue(2, 1, _ -> {});
        queue.close(TIMEOUT);
        queue.close(TIMEOUT);

        assertThat(queue.isClosed()).isTrue();
        assertThat(queue.offer(1)).isFalse();
        assertThat(queue.offer(1, SECOND)).isFalse();
        assertThat(groups).isEmpty();
    }

    @Test
    void aGroupAfterAFailedOneIsHandled() {
        var queue = queue(10, 1, first -> {
            if (first == 0) {
                throw new IllegalStateException("intended by the test");
            }
        });
        queue.offer(0);
        queue.offer(1);
        queue.close(TIMEOUT);

        assertThat(groups).containsExactly(List.of(1));
    }

    /// Producers race with the close.
    @RepeatedTest(50)
    void everyAcceptedEntryIsHandledOnce() throws Exception {
        var queue = queue(4, 3, _ -> {});
        var accepted = new ArrayList<Integer>();
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<List<Integer>>> producers = IntStream.range(0, 4)
                    .mapToObj(number -> threads.submit(producer(queue, number)))
                    .toList();
            while (groups.size() < 5) {
                Thread.onSpinWait();
            }
            queue.close(TIMEOUT);
            for (var producer : producers) {
                accepted.addAll(producer.get());
            }
        }

        assertThat(groups.stream().flatMap(List::stream)).containsExactlyInAnyOrderElementsOf(accepted);
    }

    private static Callable<List<Integer>> producer(GroupQueue<Integer> queue, int number) {
        return () -> {
            var accepted = new ArrayList<Integer>();
            for (int i = number; queue.offer(i, SECOND); i += 4) {
                accepted.add(i);
            }
            return accepted;
        };
    }

    /// @param before runs before the group takes further entries
    private GroupQueue<Integer> queue(int capacity, int max, Consumer<Integer> before) {
        var self = new AtomicReference<GroupQueue<Integer>>();
        self.set(new GroupQueue<>("test-groups", capacity, max, group -> {
            before.accept(group.getFirst());
            self.get().fill(group);
            groups.add(List.copyOf(group));
        }));
        return self.get();
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
