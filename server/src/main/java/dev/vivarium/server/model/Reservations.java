package dev.vivarium.server.model;

import dev.vivarium.core.access.WorkerGrant;
import dev.vivarium.core.run.Budget;
import dev.vivarium.model.TaskId;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/// Reservations of the budgets of runs by model calls in progress. Thread-safe.
///
/// A call starts only while the cost so far and the worst cases of the calls in progress are below the budget. Parallel
/// calls therefore exceed the budget by at most one call. A call that must wait starts after another one has ended.
final class Reservations {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition settled = lock.newCondition();
    private final Map<TaskId, BigDecimal> reserved = new HashMap<>();

    /// Number of calls that have ended.
    private long settlements;

    /// Source of the budget of a run.
    interface BudgetSource {
        /// Throws [ModelError] if the budget is spent or the run has ended.
        Budget get() throws ModelError;
    }

    /// Reserves the worst case of a call. Close the result after the call has been charged. Throws [ModelError] if
    /// the budget is spent, or if the calls in progress reserve all of it until the timeout.
    Reservation reserve(WorkerGrant.Work work, BigDecimal worstCase, BudgetSource budgets, Duration timeout)
            throws ModelError, InterruptedException {
        long deadline = System.nanoTime() + timeout.toNanos();
        while (true) {
            long seen = settlements();
            Budget budget = budgets.get();
            if (budget.budgetUsd().isEmpty()) {
                return () -> {};
            }
            if (reserve(work.task(), worstCase, budget, seen, deadline)) {
                return () -> settle(work.task(), worstCase);
            }
        }
    }

    /// Part of a budget that a call in progress holds.
    interface Reservation extends AutoCloseable {
        @Override
        void close();
    }

    private long settlements() {
        lock.lock();
        try {
            return settlements;
        } finally {
            lock.unlock();
        }
    }

    /// Reports whether the reservation was made. If not, the caller reads the budget again: a call has ended since.
    ///
    /// @param seen number of settlements before the budget was read
    private boolean reserve(TaskId run, BigDecimal worstCase, Budget budget, long seen, long deadline)
            throws ModelError, InterruptedException {
        lock.lock();
        try {
            if (settlements != seen) {
                return false;
            }
            BigDecimal held = reserved.getOrDefault(run, BigDecimal.ZERO);
            if (budget.spentUsd().add(held).compareTo(budget.budgetUsd().orElseThrow()) < 0) {
                reserved.put(run, held.add(worstCase));
                return true;
            }
            long left = deadline - System.nanoTime();
            if (left <= 0 || !settled.await(left, TimeUnit.NANOSECONDS)) {
                throw new ModelError(
                        ModelError.Kind.TOO_MANY,
                        "the calls in progress may use the rest of the budget of this run; send fewer at once");
            }
            return false;
        } finally {
            lock.unlock();
        }
    }

    private void settle(TaskId run, BigDecimal worstCase) {
        lock.lock();
        try {
            settlements++;
            reserved.computeIfPresent(
                    run, (_, held) -> held.compareTo(worstCase) > 0 ? held.subtract(worstCase) : null);
            settled.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
