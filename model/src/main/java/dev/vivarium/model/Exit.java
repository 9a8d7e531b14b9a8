package dev.vivarium.model;

import java.time.Duration;

/// Exit of a command and its resource usage. Immutable.
///
/// `code` is the exit status for [Cause#EXITED] and the signal number otherwise. For [Cause#OOM] it is signal 9, or the
/// exit status if the shell of a killed process hid the signal. [#exitCode] is the code that a shell would report.
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
    private static final int SIGKILL = 9;
    private static final int KILLED_CODE = SIGNAL_BASE + SIGKILL;

    public enum Cause implements TextEnum {
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
        DETACHED
    }

    /// Returns the code that a shell would report for a process that a signal killed.
    public static int signalCode(int signal) {
        return SIGNAL_BASE + signal;
    }

    /// Returns the code that a shell would report: 124 after a timeout, 128 plus the signal number after a kill.
    public int exitCode() {
        return switch (cause) {
            case EXITED, DETACHED -> code;
            case SIGNALLED, CANCELLED -> signalCode(code);
            case OOM -> code == SIGKILL ? KILLED_CODE : code;
            case TIMEOUT, IDLE_TIMEOUT -> TIMED_OUT_CODE;
        };
    }

    /// Returns the signal that ended the command or one of its processes. Zero if it exited.
    public int signal() {
        return switch (cause) {
            case EXITED -> 0;
            case OOM -> SIGKILL;
            case SIGNALLED, TIMEOUT, IDLE_TIMEOUT, CANCELLED, DETACHED -> code;
        };
    }

    /// Returns the code of an exit with this cause, from the exit code of a shell and the signal.
    public static int code(Cause cause, int exitCode, int signal) {
        boolean isExit = cause == Cause.EXITED || cause == Cause.OOM && exitCode != KILLED_CODE;
        return isExit ? exitCode : signal;
    }

    public boolean timedOut() {
        return cause == Cause.TIMEOUT || cause == Cause.IDLE_TIMEOUT;
    }

    /// Returns the exit of a command of which the kernel killed a process for want of memory, and which exited.
    public Exit outOfMemory() {
        return new Exit(
                Cause.OOM,
                code == KILLED_CODE ? SIGKILL : code,
                wall,
                cpuUser,
                cpuSystem,
                maxResidentBytes,
                stdoutBytes,
                stderrBytes);
    }

    public Exit withCause(Cause other) {
        return new Exit(other, code, wall, cpuUser, cpuSystem, maxResidentBytes, stdoutBytes, stderrBytes);
    }
}
