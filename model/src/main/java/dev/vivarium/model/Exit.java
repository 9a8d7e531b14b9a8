package dev.vivarium.model;

import java.time.Duration;
import java.util.Locale;

/// How a command ended and what it used. Immutable.
///
/// `code` is the exit status for [Cause#EXITED] and the signal's number otherwise; [#exitCode] is what a shell would
/// show.
public record Exit(
        Cause cause,
        int code,
        Duration wall,
        Duration cpuUser,
        Duration cpuSystem,
        long maxResidentBytes,
        long stdoutBytes,
        long stderrBytes) {
    private static final int TIMED_OUT_CODE = 124;
    private static final int SIGNAL_BASE = 128;

    /// The closed set of ways in which a command ends.
    public enum Cause {
        EXITED,
        SIGNALLED,
        /// The kernel killed it because the sandbox was out of memory.
        OOM,
        TIMEOUT,
        /// It wrote nothing for longer than its silence limit.
        IDLE_TIMEOUT,
        /// The caller went away or cancelled.
        CANCELLED,
        /// It was let go and runs on without anybody listening.
        DETACHED;

        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /// The number a shell would report: 124 after a time limit, 128 plus the signal after a kill.
    public int exitCode() {
        return switch (cause) {
            case EXITED, DETACHED -> code;
            case SIGNALLED, OOM, CANCELLED -> SIGNAL_BASE + code;
            case TIMEOUT, IDLE_TIMEOUT -> TIMED_OUT_CODE;
        };
    }

    public boolean timedOut() {
        return cause == Cause.TIMEOUT || cause == Cause.IDLE_TIMEOUT;
    }

    public Exit withCause(Cause other) {
        return new Exit(other, code, wall, cpuUser, cpuSystem, maxResidentBytes, stdoutBytes, stderrBytes);
    }
}
