package dev.vivarium.model;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.Optional;

/// Attempt at a task of the queue. Immutable.
///
/// @param number     1 for the first attempt
/// @param run        run of the server. Absent if a worker outside of the server claimed the task
/// @param worker     name of the worker that claimed the task
/// @param leaseUntil end of the lease of that worker, while the attempt is live
public record TaskAttempt(
        int number,
        Optional<RunId> run,
        Optional<SandboxId> sandbox,
        Optional<String> worker,
        Status status,
        Instant startedAt,
        Optional<Instant> endedAt,
        Optional<Instant> leaseUntil,
        Optional<TaskError> error,
        BigDecimal costUsd) {
    public enum Status implements TextEnum {
        ASSIGNED,
        RUNNING,
        /// The run of an attempt of a race has completed, and its check runs.
        CHECKING,
        COMPLETED,
        FAILED,
        CANCELLED,
        /// The worker did not renew its lease.
        LAPSED
    }
}
