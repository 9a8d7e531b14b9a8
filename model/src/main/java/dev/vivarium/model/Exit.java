package dev.vivarium.model;

import java.time.Duration;
import java.util.Locale;

/// Exit of a command and its resource usage. Immutable.
///
/// `code` is the exit status for [Cause#EXITED] and the signal number otherwise. [#exitCode] is the code that a shell
/// would report.
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

    public enum Cause {
        EXITED,
        SIGNALLED,
        /// The kernel killed it because the sandbox was out of memory.
        OOM,
        TIMEOUT,
        /// It wrote no output for longer than its idle timeout.
        IDLE_TIMEOUT,
        /// The client disconnected or cancelled.
        CANCELLED,
        /// It was detached and continues to run without a reader.
        DETACHED;

        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /// Returns the code that a shell would report: 124 after a timeout, 128 plus the signal number after a kill.
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
