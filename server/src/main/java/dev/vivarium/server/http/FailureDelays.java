package dev.vivarium.server.http;

import dev.vivarium.core.Digests;
import dev.vivarium.core.guest.Cancellation;
import java.net.InetAddress;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/// Growing delays of the responses to failed authentications, per address and per credential. Thread-safe.
///
/// Only failures wait. A valid credential is never delayed, whatever its address has sent before, so nobody can lock
/// out a user. The number of connections per address limits how many failures wait at once.
public final class FailureDelays {
    /// Number of failures without a delay.
    private static final int FREE = 10;

    private static final Duration FIRST = Duration.ofMillis(50);

    /// Time after which one failure is forgotten.
    private static final Duration FORGET_ONE = Duration.ofSeconds(3);

    private static final Duration FORGET_EVERY = Duration.ofSeconds(1);
    private static final int MAX_KEYS = 20_000;
    private static final int MAX_SHIFT = 16;

    private final Duration max;
    private final LongSupplier nanos;
    private final Map<String, Failures> recent = new ConcurrentHashMap<>();
    private final AtomicLong forgottenAt;

    /// @param max maximum delay; zero for none
    public FailureDelays(Duration max, LongSupplier nanos) {
        this.max = max;
        this.nanos = nanos;
        this.forgottenAt = new AtomicLong(nanos.getAsLong());
    }

    /// Recent failures of one key, and the time of the last one.
    private record Failures(double count, long at) {
        double left(long now) {
            return Math.max(0, count - (double) (now - at) / FORGET_ONE.toNanos());
        }

        Failures next(long now) {
            return new Failures(Math.min(left(now), FREE + MAX_SHIFT) + 1, now);
        }
    }

    /// Counts a failure and returns the delay of its response.
    Duration count(Optional<InetAddress> address, Optional<String> credential) {
        Duration ofAddress =
                address.map(one -> count("address " + Connections.network(one))).orElse(Duration.ZERO);
        Duration ofCredential = credential
                .map(text -> count("credential " + Digests.sha256(text)))
                .orElse(Duration.ZERO);
        return ofAddress.compareTo(ofCredential) > 0 ? ofAddress : ofCredential;
    }

    private Duration count(String key) {
        if (max.isZero()) {
            return Duration.ZERO;
        }
        long now = nanos.getAsLong();
        if (recent.size() >= MAX_KEYS) {
            forget(now);
        }
        // At the limit, all further keys share one count.
        String counted = recent.size() < MAX_KEYS || recent.containsKey(key) ? key : "others";
        double count = recent.merge(counted, new Failures(1, now), (known, _) -> known.next(now))
                .count();
        int excess = (int) Math.min(count - FREE, MAX_SHIFT);
        Duration delay = excess < 1 ? Duration.ZERO : FIRST.multipliedBy(1L << (excess - 1));
        return delay.compareTo(max) < 0 ? delay : max;
    }

    /// Removes the keys without recent failures. A flood must not pay for it at each failure, so it runs once a
    /// second.
    private void forget(long now) {
        long last = forgottenAt.get();
        if (now - last >= FORGET_EVERY.toNanos() && forgottenAt.compareAndSet(last, now)) {
            recent.values().removeIf(failures -> failures.left(now) == 0);
        }
    }

    /// Counts a failure and waits for its delay. The wait ends early if the client disconnects.
    void await(Optional<InetAddress> address, Optional<String> credential, Cancellation cancellation) {
        Duration delay = count(address, credential);
        if (delay.isZero()) {
            return;
        }
        var gone = new CountDownLatch(1);
        cancellation.onCancel(gone::countDown);
        try {
            gone.await(delay.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
