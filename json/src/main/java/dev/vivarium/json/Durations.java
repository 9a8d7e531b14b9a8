package dev.vivarium.json;

import static dev.vivarium.model.Failure.InvalidRequest.require;

import java.time.Duration;

/// Conversion of durations to and from seconds in requests. Stateless.
final class Durations {
    private static final double NANOS = 1e9;

    /// Ten thousand years. Beyond it, time arithmetic overflows.
    private static final double MAX_SECONDS = 3.2e11;

    private Durations() {}

    static Duration ofSeconds(String field, double seconds) {
        require(seconds > 0, field, "must be more than zero");
        require(seconds <= MAX_SECONDS, field, "is too large");
        long whole = (long) seconds;
        // Never zero: a positive timeout must not become no timeout.
        long nanos = Math.max(Math.round((seconds - whole) * NANOS), whole == 0 ? 1 : 0);
        return Duration.ofSeconds(whole, nanos);
    }

    static double inSeconds(Duration time) {
        return time.getSeconds() + time.getNano() / NANOS;
    }
}
