package dev.vivarium.core.guard.trajectory;

import java.time.Instant;

/// Counters of a trajectory. Confined to one thread.
final class Counters {
    /// Number and time of the newest step.
    long seq;

    Instant at;

    long calls;
    long failedCalls;

    /// Failed calls since the last passing check.
    long failedSinceCheck;

    long modelCalls;
    long costNanos;

    /// Number of the newest step that changed the cost.
    long costSeq;

    /// Number and time of the newest progress.
    long progressSeq;

    Instant progressAt;

    /// Finished calls and model calls since then.
    long callsIdle;

    long modelCallsIdle;

    /// Number of the newest change that gave a file new content.
    long versionSeq;

    /// Number of the newest process that only waits.
    long waitSeq;

    private Counters(long seq, Instant at) {
        this.seq = seq;
        this.at = at;
        this.progressSeq = seq;
        this.progressAt = at;
    }

    static Counters begin(long seq, Instant at) {
        return new Counters(seq, at);
    }
}
