package dev.vivarium.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import org.junit.jupiter.api.Test;

class CrowdTest {
    @Test
    void everyWorkerRunsEveryTurn() {
        Set<String> calls = ConcurrentHashMap.newKeySet();
        var result = Crowd.turns(4, 3, worker -> turn -> calls.add(worker + "/" + turn));
        assertThat(result.orThrow().samples().count()).isEqualTo(12);
        assertThat(calls).hasSize(12);
    }

    @Test
    void workersRunConcurrently() {
        // The barrier opens only when all eight workers wait at it.
        var barrier = new CyclicBarrier(8);
        var result = Crowd.turns(8, 1, _ -> _ -> {
            try {
                barrier.await();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        assertThat(result.failures()).isEmpty();
    }

    @Test
    void failureIsCountedAndStopsItsWorkerOnly() {
        var result = Crowd.turns(3, 2, worker -> turn -> {
            if (worker == 1) {
                throw new IllegalStateException("no");
            }
        });
        assertThat(result.samples().count()).isEqualTo(4);
        assertThat(result.failures()).hasSize(1);
        assertThatThrownBy(result::orThrow).hasMessageContaining("no");
    }

    @Test
    void workerThatCannotStartDoesNotBlockTheOthers() {
        var result = Crowd.turns(2, 1, worker -> {
            if (worker == 0) {
                throw new IllegalStateException("no connection");
            }
            return _ -> {};
        });
        assertThat(result.failures()).hasSize(1);
        assertThat(result.samples().count()).isEqualTo(1);
    }

    @Test
    void pacedCallsAllRun() {
        var result = Crowd.paced(5, 4, Duration.ofMillis(1), _ -> _ -> {});
        assertThat(result.samples().count()).isEqualTo(20);
    }
}
