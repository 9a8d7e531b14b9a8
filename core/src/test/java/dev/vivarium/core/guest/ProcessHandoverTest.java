package dev.vivarium.core.guest;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class ProcessHandoverTest {
    @Test
    void whoAsksWaitsForAGuestThatIsSlow() throws InterruptedException {
        var handover = new ProcessHandover();
        handover.expect();
        Thread asks = Thread.ofVirtual().name("asks").start(handover::await);

        assertThat(asks.join(Duration.ofMillis(1500))).isFalse();
        handover.done();
        asks.join();
    }
}
