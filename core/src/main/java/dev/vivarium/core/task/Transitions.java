package dev.vivarium.core.task;

import static dev.vivarium.model.Task.Status.ASSIGNED;
import static dev.vivarium.model.Task.Status.BLOCKED;
import static dev.vivarium.model.Task.Status.CANCELLED;
import static dev.vivarium.model.Task.Status.COMPLETED;
import static dev.vivarium.model.Task.Status.FAILED;
import static dev.vivarium.model.Task.Status.PENDING;
import static dev.vivarium.model.Task.Status.READY;
import static dev.vivarium.model.Task.Status.RETRYING;
import static dev.vivarium.model.Task.Status.RUNNING;

import dev.vivarium.model.Task.Status;
import java.util.Map;
import java.util.Set;

/// Table of the allowed changes of the status of a task in the queue. Stateless.
///
/// | from | to | cause |
/// |---|---|---|
/// | pending | ready | all dependencies are completed |
/// | pending | blocked | a dependency failed, was cancelled or is blocked |
/// | ready | assigned | an attempt is stored |
/// | ready | failed | the time in the queue is over |
/// | assigned | running | the run has started, or a worker has claimed the task |
/// | assigned | ready | the server has no capacity for the run |
/// | assigned, running | retrying | the attempt failed, and another follows |
/// | assigned, running | failed | the attempt failed, and no other follows |
/// | running | ready | the lease of the worker lapsed |
/// | running | completed | the attempt completed |
/// | retrying | ready | the time of the next attempt is reached |
/// | blocked | pending | the dependencies were retried |
/// | failed, cancelled | pending | a client retries the task |
/// | any but a final one | cancelled | a client cancels the task |
final class Transitions {
    static final Map<Status, Set<Status>> ALLOWED = Map.of(
            PENDING, Set.of(READY, BLOCKED, CANCELLED),
            READY, Set.of(ASSIGNED, FAILED, CANCELLED),
            ASSIGNED, Set.of(RUNNING, READY, RETRYING, FAILED, CANCELLED),
            RUNNING, Set.of(READY, RETRYING, COMPLETED, FAILED, CANCELLED),
            RETRYING, Set.of(READY, CANCELLED),
            BLOCKED, Set.of(PENDING, CANCELLED),
            COMPLETED, Set.of(),
            FAILED, Set.of(PENDING),
            CANCELLED, Set.of(PENDING));

    private Transitions() {}

    static boolean isAllowed(Status from, Status to) {
        return ALLOWED.getOrDefault(from, Set.of()).contains(to);
    }

    /// Reports whether a task with this status cannot complete without a retry.
    static boolean isLost(Status status) {
        return status == FAILED || status == CANCELLED || status == BLOCKED;
    }

    /// Reports whether a task with this status can be cancelled.
    static boolean isOpen(Status status) {
        return isAllowed(status, CANCELLED);
    }
}
