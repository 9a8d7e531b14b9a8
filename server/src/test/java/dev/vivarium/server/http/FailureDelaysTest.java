package dev.vivarium.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class FailureDelaysTest {
    private static final Duration MOST = Duration.ofSeconds(5);

    private final AtomicLong now = new AtomicLong();
    private final FailureDelays delays = new FailureDelays(MOST, now::get);

    @Test
    void delayOfAnAddressGrowsToTheMaximumAndIsForgotten() throws UnknownHostException {
        for (int i = 0; i < 10; i++) {
            assertThat(delayOf("192.0.2.1", "key" + i)).isZero();
        }
        Duration last = Duration.ZERO;
        for (int i = 0; i < 7; i++) {
            Duration next = delayOf("192.0.2.1", "other" + i);
            assertThat(next).isGreaterThan(last);
            last = next;
        }
        for (int i = 0; i < 1_000; i++) {
            delayOf("192.0.2.1", "more" + i);
        }
        assertThat(delayOf("192.0.2.1", "last")).isEqualTo(MOST);
        assertThat(delayOf("192.0.2.2", "first")).isZero();
        now.addAndGet(Duration.ofMinutes(5).toNanos());
        assertThat(delayOf("192.0.2.1", "later")).isZero();
    }

    @Test
    void oneCredentialFromManyAddressesIsDelayed() throws UnknownHostException {
        for (int i = 0; i < 10; i++) {
            assertThat(delayOf("192.0.2." + i, "same")).isZero();
        }
        assertThat(delayOf("192.0.2.100", "same")).isPositive();
        assertThat(delayOf("192.0.2.101", "another")).isZero();
    }

    @Test
    void addressesOfOneIpv6NetworkCountTogether() throws UnknownHostException {
        for (int i = 0; i < 10; i++) {
            delayOf("2001:db8:1:2::" + i, "key" + i);
        }
        assertThat(delayOf("2001:db8:1:2:ffff::1", "next")).isPositive();
        assertThat(delayOf("2001:db8:1:3::1", "next2")).isZero();
    }

    @Test
    void floodOfAddressesIsCountedWithinBounds() throws UnknownHostException {
        for (int i = 0; i < 30_000; i++) {
            delayOf("10.0." + i / 250 + "." + i % 250, "key" + i);
        }
        assertThat(delayOf("10.9.9.9", "last")).isEqualTo(MOST);
        now.addAndGet(Duration.ofMinutes(5).toNanos());
        assertThat(delayOf("10.9.9.9", "later")).isZero();
    }

    private Duration delayOf(String address, String credential) throws UnknownHostException {
        return delays.count(Optional.of(InetAddress.getByName(address)), Optional.of(credential));
    }
}
