package dev.vivarium.core.guest;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
final class GuestLoopTest {
    @Test
    void loopIsResponsiveUntilClosed() {
        var loop = GuestLoop.start();
        assertThat(loop.isResponsive(Duration.ofSeconds(30))).isTrue();

        loop.close();
        assertThat(loop.isResponsive(Duration.ofSeconds(30))).isFalse();
    }
}
