package dev.vivarium.core.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.core.Scheduler;
import java.time.Duration;
import java.time.Instant;
import java.util.Random;
import org.junit.jupiter.api.Test;

class LeaseTest {
    private static final Instant START = Instant.parse("2026-01-01T10:00:00Z");
    private static final Duration IDLE = Duration.ofMinutes(30);
    private static final Duration LIFE = Duration.ofHours(2);

    private Instant day = START;
    private long nanos = Long.MAX_VALUE - 1000; // So that the count wraps round during the tests.
    private final TimeSource timeSource = new TimeSource(new Scheduler(() -> day, () -> nanos), new Random(1));
    private final Lease lease = new Lease(timeSource, IDLE, START, START.plus(LIFE));

    @Test
    void leaseIsIdleExactlyAfterTheTimeout() {
        pass(IDLE.minusMillis(1));
        assertThat(lease.isIdleTooLong()).isFalse();
        pass(Duration.ofMillis(1));
        assertThat(lease.isIdleTooLong()).isTrue();
    }

    @Test
    void everyUseExtendsTheLease() {
        pass(Duration.ofMinutes(29));
        lease.touch();
        pass(Duration.ofMinutes(29));
        assertThat(lease.isIdleTooLong()).isFalse();
        assertThat(lease.lastActivity()).isEqualTo(START.plus(Duration.ofMinutes(29)));
        assertThat(lease.expiresAt()).isEqualTo(START.plus(Duration.ofMinutes(59)));
    }

    @Test
    void idleTimeCountsFromTheEndOfTheUse() {
        lease.began();
        pass(Duration.ofMinutes(45));
        assertThat(lease.isIdleTooLong()).isFalse();
        assertThat(lease.lastActivity()).isEqualTo(day);
        lease.ended();
        pass(Duration.ofMinutes(29));
        assertThat(lease.isIdleTooLong()).isFalse();
        pass(Duration.ofMinutes(1));
        assertThat(lease.isIdleTooLong()).isTrue();
    }

    @Test
    void noUseExtendsTheAbsoluteLifetime() {
        lease.began();
        pass(LIFE.minusMillis(1));
        assertThat(lease.isOver()).isFalse();
        assertThat(lease.expiresAt()).isEqualTo(START.plus(LIFE));
        pass(Duration.ofMillis(1));
        assertThat(lease.isOver()).isTrue();
    }

    @Test
    void clockChangeDoesNotAffectTheLease() {
        day = day.plus(Duration.ofDays(365));
        assertThat(lease.isIdleTooLong()).isFalse();
        assertThat(lease.isOver()).isFalse();
        day = day.minus(Duration.ofDays(730));
        pass(IDLE);
        assertThat(lease.isIdleTooLong()).isTrue();
    }

    @Test
    void restoredLeaseContinues() {
        var restored = new Lease(timeSource, IDLE, START.minus(Duration.ofMinutes(20)), START.plusSeconds(60));
        assertThat(restored.remaining()).isEqualTo(Duration.ofSeconds(60));
        pass(Duration.ofMinutes(10));
        assertThat(restored.isIdleTooLong()).isTrue();
        assertThat(restored.isOver()).isTrue();
    }

    @Test
    void restartOfTheIdleTimeIsNoActivity() {
        pass(Duration.ofMinutes(29));
        lease.restartIdle();
        pass(Duration.ofMinutes(29));
        assertThat(lease.isIdleTooLong()).isFalse();
        assertThat(lease.lastActivity()).isEqualTo(START);
        assertThat(lease.expiresAt()).isEqualTo(START.plus(Duration.ofMinutes(59)));
        assertThat(lease.remaining()).isEqualTo(Duration.ofMinutes(1));
        assertThat(lease.takeUnsaved()).isFalse();
    }

    @Test
    void finishedUseIsSavedOnceAndARunningOneEveryTime() {
        assertThat(lease.takeUnsaved()).isFalse();
        lease.touch();
        assertThat(lease.takeUnsaved()).isTrue();
        assertThat(lease.takeUnsaved()).isFalse();
        lease.began();
        assertThat(lease.takeUnsaved()).isTrue();
        assertThat(lease.takeUnsaved()).isTrue();
    }

    private void pass(Duration time) {
        day = day.plus(time);
        nanos += time.toNanos();
    }
}
