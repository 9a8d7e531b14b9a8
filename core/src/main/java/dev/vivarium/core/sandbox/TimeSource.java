package dev.vivarium.core.sandbox;

import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SnapshotId;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.HexFormat;
import java.util.random.RandomGenerator;

/// What the engine takes from outside: the time of day for people and the store, elapsed time for decisions, and
/// chance. Thread-safe if its parts are.
record TimeSource(InstantSource clock, Ticker ticker, RandomGenerator random) {
    private static final int SECRET_BYTES = 32;

    static TimeSource of(InstantSource clock) {
        return new TimeSource(clock, System::nanoTime, new SecureRandom());
    }

    /// The time of day, as fine as the store keeps it.
    Instant now() {
        return clock.instant().truncatedTo(ChronoUnit.MILLIS);
    }

    long nanos() {
        return ticker.nanos();
    }

    SandboxId newId() {
        return SandboxId.random(random);
    }

    SnapshotId newSnapshotId() {
        return SnapshotId.random(random);
    }

    String newSecret() {
        var bytes = new byte[SECRET_BYTES];
        random.nextBytes(bytes);
        return HexFormat.of().formatHex(bytes);
    }
}
