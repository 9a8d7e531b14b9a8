package dev.vivarium.core.sandbox;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.vivarium.core.sandbox.Transition.Kind;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// State of one sandbox, and the exclusive right to change it. Thread-safe.
///
/// The lock is held only to decide. A thread that makes a transition holds a [PendingTransition]. The thread writes the
/// store and does slow work without the lock, and then calls [PendingTransition#complete]. Other threads that want a
/// transition wait for it; readers never wait.
final class Lifecycle {
    private final Consumer<Transition> listener;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    @GuardedBy("lock")
    private @Nullable PendingTransition current;

    private volatile State state;

    Lifecycle(State first, Consumer<Transition> listener) {
        this.state = first;
        this.listener = listener;
    }

    State state() {
        return state;
    }

    /// Effect of a timeout while another transition is pending.
    private enum OnTimeout {
        SUPERSEDE,
        FAIL
    }

    /// Begins the transition `step`, if the sandbox is in its start state after the pending transition. A
    /// pause, resume or wake never supersedes another transition, because a caller can repeat it.
    Optional<PendingTransition> tryBegin(Transition step, Duration timeout) {
        boolean canWait = step == Transition.PAUSE || step == Transition.RESUME || step == Transition.WAKE;
        return tryBegin(
                kind -> Optional.of(step).filter(wanted -> wanted.from() == kind),
                timeout,
                canWait ? OnTimeout.FAIL : OnTimeout.SUPERSEDE);
    }

    /// Begins the transition to `Hibernated`, if the present state has one. Never supersedes another
    /// transition.
    Optional<PendingTransition> tryHibernate(Duration timeout) {
        return tryBegin(kind -> Transition.between(kind, Kind.HIBERNATED), timeout, OnTimeout.FAIL);
    }

    /// Begins the transition to `end` from any state. Returns an empty value if the sandbox has ended.
    Optional<PendingTransition> tryEnd(Kind end, Duration timeout) {
        return tryBegin(kind -> Transition.between(kind, end), timeout, OnTimeout.SUPERSEDE);
    }

    /// Begins a transition. With `SUPERSEDE`, a pending transition that exceeds the timeout loses its effect, so
    /// that a sandbox that hangs in a transition can still end.
    private Optional<PendingTransition> tryBegin(
            Function<Kind, Optional<Transition>> choice, Duration timeout, OnTimeout onTimeout) {
        lock.lock();
        try {
            for (long left = timeout.toNanos(); current != null && left > 0; ) {
                left = awaitLocked(left);
            }
            if (current != null && onTimeout == OnTimeout.FAIL) {
                return Optional.empty();
            }
            Optional<PendingTransition> pending = choice.apply(Kind.of(state)).map(PendingTransition::new);
            if (pending.isPresent()) {
                current = pending.get();
            }
            return pending;
        } finally {
            lock.unlock();
        }
    }

    /// Waits until `wanted` accepts the state, or until the timeout. Returns the last state.
    State await(Predicate<State> wanted, Duration timeout) {
        State now = state;
        if (wanted.test(now)) {
            return now;
        }
        lock.lock();
        try {
            for (long left = timeout.toNanos(); !wanted.test(state) && left > 0; ) {
                left = awaitLocked(left);
            }
            return state;
        } finally {
            lock.unlock();
        }
    }

    /// Returns the remaining time; 0 after an interrupt.
    @GuardedBy("lock")
    private long awaitLocked(long nanos) {
        try {
            return changed.awaitNanos(nanos);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return 0;
        }
    }

    /// Exclusive right to make one transition. Closing it without [#complete] leaves the state unchanged. Confined
    /// to the thread that began it.
    final class PendingTransition implements AutoCloseable {
        private final Transition transition;
        private final State before;
        private boolean done;

        private PendingTransition(Transition transition) {
            this.transition = transition;
            this.before = state;
        }

        State before() {
            return before;
        }

        /// Makes the transition. Returns false if another transition has superseded this one.
        boolean complete(State next) {
            boolean made;
            lock.lock();
            try {
                made = current == this;
                if (made) {
                    state = next;
                }
                finishLocked();
            } finally {
                lock.unlock();
            }
            if (made) {
                listener.accept(transition);
            }
            return made;
        }

        @Override
        public void close() {
            if (!done) {
                lock.lock();
                try {
                    finishLocked();
                } finally {
                    lock.unlock();
                }
            }
        }

        @GuardedBy("lock")
        private void finishLocked() {
            done = true;
            if (current == this) {
                current = null;
                changed.signalAll();
            }
        }
    }
}
