package dev.vivarium.core.run;

import dev.vivarium.model.End;
import dev.vivarium.model.Exit;
import java.util.Optional;
import java.util.Set;

/// Machine-readable reasons for the end of a run. Stateless.
public final class ReasonCode {
    public static final String COMPLETED = "completed";
    /// The agent reported a failure.
    public static final String FAILED = "failed";
    public static final String BUDGET = "budget";
    /// A review was not answered before its deadline.
    public static final String REVIEW_EXPIRED = "review_expired";
    /// A client stopped the run or ended its sandbox.
    public static final String ABORTED = "aborted";
    /// The guardian stopped the run.
    public static final String GUARDIAN = "guardian";
    public static final String NOT_STARTED = "not_started";
    /// The worker ended without a result.
    public static final String CRASHED = "crashed";
    public static final String OOM = "oom";
    public static final String SIGNAL = "signal";
    /// The worker was alive and did no work.
    public static final String IDLE = "idle";
    /// The worker sent no heartbeats.
    public static final String UNRESPONSIVE = "unresponsive";
    /// The task was restarted too often.
    public static final String QUARANTINED = "quarantined";

    /// Codes that a worker may report.
    private static final Set<String> REPORTED = Set.of(
            FAILED, BUDGET, ABORTED, CRASHED, OOM, SIGNAL, "time_limit", "model_error", "model_refused", "exit_status");

    private ReasonCode() {}

    public static String of(Exit exit) {
        return switch (exit.cause()) {
            case EXITED -> CRASHED;
            case OOM -> OOM;
            case SIGNALLED, TIMEOUT, IDLE_TIMEOUT, CANCELLED, DETACHED -> SIGNAL;
        };
    }

    /// Returns the code of a run whose sandbox ended.
    public static String of(End.Cause cause) {
        return switch (cause) {
            case USER -> ABORTED;
            case CRASH, SERVER -> CRASHED;
            default -> cause.text();
        };
    }

    /// Returns the code that a worker reported, or [#FAILED] if it is unknown.
    public static String reported(Optional<String> code) {
        return code.filter(REPORTED::contains).orElse(FAILED);
    }
}
