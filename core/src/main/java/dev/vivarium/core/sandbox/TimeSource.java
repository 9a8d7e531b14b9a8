package dev.vivarium.core.sandbox;

import dev.vivarium.core.Scheduler;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SnapshotId;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.HexFormat;
import java.util.random.RandomGenerator;

/// Source of time, timers and random numbers. Thread-safe.
record TimeSource(Scheduler scheduler, RandomGenerator random) {
    private static final int SECRET_BYTES = 32;

    static TimeSource of(Scheduler scheduler) {
        return new TimeSource(scheduler, new SecureRandom());
    }

    InstantSource clock() {
        return scheduler.clock();
    }

    /// Returns the time of day with the resolution of the store.
    Instant now() {
        return clock().instant().truncatedTo(ChronoUnit.MILLIS);
    }

    /// Returns elapsed time. Only differences count.
    long nanos() {
        return scheduler.nanos();
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
