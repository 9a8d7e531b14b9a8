package dev.vivarium.core.task;

import dev.vivarium.model.Failure;
import dev.vivarium.model.Run;
import dev.vivarium.model.SandboxFailure;
import dev.vivarium.model.TaskAttempt;
import dev.vivarium.model.TaskError;
import dev.vivarium.model.TaskError.Kind;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;

/// Classes of errors, and the pauses before retries. Thread-safe if `random` is.
///
/// A pause doubles with each retry. Up to half of it is random, so that tasks that failed together do not retry
/// together.
record RetryPolicy(Duration shortest, Duration longest, RandomGenerator random) {
    static final String OOM = "oom";
    static final String TIME_LIMIT = "time_limit";
    static final String QUEUE_TIMEOUT = "queue_timeout";
    static final String LEASE_LAPSED = "lease_lapsed";
    static final String NOT_STARTED = "not_started";
    static final String CHECK_FAILED = "check_failed";
    static final String NO_WINNER = "no_winner";

    /// Length of the result of each attempt in the result of a race, in characters.
    private static final int SHOWN = 800;

    static RetryPolicy standard(RandomGenerator random) {
        return new RetryPolicy(Duration.ofSeconds(2), Duration.ofMinutes(10), random);
    }

    /// @param retry number of the retry, from one
    Duration pause(int retry) {
        long max = shortest.multipliedBy(1L << Math.min(retry - 1, 30)).toMillis();
        long bounded = Math.min(max, longest.toMillis());
        return Duration.ofMillis(bounded - (long) (random.nextDouble() * bounded / 2));
    }

    /// Returns the number of attempts that may fail with such an error before the task fails.
    ///
    /// @param maxRetries of the task
    static int maxFailures(TaskError error, int maxRetries) {
        return switch (error.kind()) {
            case TRANSIENT -> error.code().equals(OOM) ? Math.min(maxRetries, 1) : maxRetries;
            case UNKNOWN -> Math.min(maxRetries, 1);
            case PERMANENT -> 0;
        };
    }

    /// Returns the reason of a run that failed by itself.
    static TaskError error(Run run) {
        String code = run.reasonCode().orElse("failed");
        String reason = run.reason().orElse("the run ended with " + code);
        return switch (code) {
            case OOM ->
                new TaskError(
                        Kind.TRANSIENT, code, reason + "; one retry. If it happens again, raise limits.memory_mb");
            case "model_error", "crashed", NOT_STARTED, "signal", "unresponsive", "host_restart" ->
                new TaskError(Kind.TRANSIENT, code, reason);
            case "budget",
                    "model_refused",
                    "aborted",
                    "idle",
                    "lifetime",
                    "quarantined",
                    "guardian",
                    "review_expired" -> new TaskError(Kind.PERMANENT, code, reason);
            default -> new TaskError(Kind.UNKNOWN, code, reason);
        };
    }

    /// Returns the reason of a race that no attempt won. If the platform failed each attempt, a retry makes sense.
    static TaskError error(List<TaskAttempt> race) {
        List<TaskError> errors =
                race.stream().flatMap(attempt -> attempt.error().stream()).toList();
        boolean isTransient = errors.stream().allMatch(error -> error.kind() == Kind.TRANSIENT);
        Optional<TaskError> notMemory =
                errors.stream().filter(error -> !error.code().equals(OOM)).findFirst();
        String code = isTransient ? notMemory.orElse(errors.getFirst()).code() : NO_WINNER;
        return new TaskError(isTransient ? Kind.TRANSIENT : Kind.PERMANENT, code, "no attempt won: " + results(race));
    }

    private static String results(List<TaskAttempt> race) {
        return race.stream()
                .map(attempt -> "attempt " + attempt.number() + ": "
                        + attempt.error().map(error -> start(error.message())).orElse("no result"))
                .collect(Collectors.joining("; "));
    }

    private static String start(String message) {
        return message.length() <= SHOWN ? message : message.substring(0, SHOWN) + "…";
    }

    /// Returns the reason of a run that could not begin.
    static TaskError error(Failure failure) {
        Kind kind = failure.owner() == Failure.Owner.CALLER ? Kind.PERMANENT : Kind.TRANSIENT;
        return new TaskError(kind, failure.slug(), failure.sentence());
    }

    /// Reports whether the run may begin as soon as another one ends.
    static boolean isShortage(Failure failure) {
        return failure.owner() == Failure.Owner.CAPACITY || failure instanceof SandboxFailure.QuotaExceeded;
    }
}
