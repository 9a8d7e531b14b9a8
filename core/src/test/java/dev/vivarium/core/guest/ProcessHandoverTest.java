package dev.vivarium.core.guest;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class ProcessHandoverTest {
    @Test
    void awaitBlocksUntilTheHandoverIsDone() throws InterruptedException {
        var handover = new ProcessHandover();
        handover.expect();
        Thread waiter = Thread.ofVirtual().name("asks").start(handover::await);

        assertThat(waiter.join(Duration.ofMillis(1500))).isFalse();
        handover.done();
        waiter.join();
    }
}
