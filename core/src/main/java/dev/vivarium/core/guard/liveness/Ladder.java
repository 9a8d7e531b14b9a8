package dev.vivarium.core.guard.liveness;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/// Escalation after missed heartbeats. Immutable.
///
/// | missed heartbeats | rung |
/// |---|---|
/// | 1 | `REPORT`: append an event |
/// | 2 | `PROBE`: examine the sandbox through its guest, and append the findings |
/// | 3 | `RESTART`: collect forensics, fail the run; another run continues the task |
/// | 3, and the task was restarted too often, or the disk is full | `QUARANTINE`: freeze the sandbox, fail the task |
/// | 3, and restarts are off | `FAIL`: fail the run, and end the sandbox |
///
/// A check never skips a rung, so that a slow server does not restart a worker that it has not probed.
///
/// @param beat interval of the heartbeats
/// @param max maximum number of restarts; zero for none
record Ladder(Duration beat, int max) {
    enum Rung {
        REPORT,
        PROBE,
        RESTART,
        QUARANTINE,
        FAIL
    }

    /// State of a silent run.
    ///
    /// @param lastSign   last heartbeat, or a later time before which the run could not send one
    /// @param climbed    number of rungs that the run has reached since then
    /// @param restarts   number of recent restarts of its task
    /// @param isDiskFull whether the probe found a full disk
    record Silence(Instant lastSign, int climbed, int restarts, boolean isDiskFull) {}

    /// Returns the time without a heartbeat after which one is missed. A fifth of the interval is for the network.
    Duration firstMiss() {
        return beat.plus(beat.dividedBy(5));
    }

    /// Returns the next rung of a silent run, if one is due.
    Optional<Rung> next(Silence silence, Instant now) {
        if (silence.climbed() >= misses(silence.lastSign(), now)) {
            return Optional.empty();
        }
        return switch (silence.climbed()) {
            case 0 -> Optional.of(Rung.REPORT);
            case 1 -> Optional.of(Rung.PROBE);
            case 2 -> Optional.of(last(silence));
            default -> Optional.empty();
        };
    }

    private Rung last(Silence silence) {
        if (max == 0) {
            return Rung.FAIL;
        }
        return silence.isDiskFull() || silence.restarts() >= max ? Rung.QUARANTINE : Rung.RESTART;
    }

    private long misses(Instant lastSign, Instant now) {
        Duration late = Duration.between(lastSign, now).minus(firstMiss());
        return late.isNegative() ? 0 : 1 + late.toMillis() / beat.toMillis();
    }
}
