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
/// The lock is held only to decide. A thread that makes a transition holds a [Move]. It writes the store and does slow
/// work without the lock, and then calls [Move#to]. Other threads that want a transition wait for it; readers never
/// wait.
final class Lifecycle {
    private final Consumer<Transition> listener;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    @GuardedBy("lock")
    private @Nullable Move moving;

    private volatile State state;

    Lifecycle(State first, Consumer<Transition> listener) {
        this.state = first;
        this.listener = listener;
    }

    State state() {
        return state;
    }

    /// Treatment of a move that exceeds the timeout.
    private enum OnTimeout {
        OVERTAKES,
        GIVES_UP
    }

    /// Begins the transition `step`, if the sandbox is in its start state after the current move. A pause, resume
    /// or wake never overtakes another move, because a caller can repeat it.
    Optional<Move> tryBegin(Transition step, Duration timeout) {
        boolean canWait = step == Transition.PAUSE || step == Transition.RESUME || step == Transition.WAKE;
        return tryBegin(
                kind -> Optional.of(step).filter(wanted -> wanted.from() == kind),
                timeout,
                canWait ? OnTimeout.GIVES_UP : OnTimeout.OVERTAKES);
    }

    /// Begins the transition to `Hibernated`, if the present state has one. Never overtakes another move.
    Optional<Move> tryHibernate(Duration timeout) {
        return tryBegin(kind -> Transition.between(kind, Kind.HIBERNATED), timeout, OnTimeout.GIVES_UP);
    }

    /// Begins the transition to `end` from any state. Returns an empty value if the sandbox has ended.
    Optional<Move> tryEnd(Kind end, Duration timeout) {
        return tryBegin(kind -> Transition.between(kind, end), timeout, OnTimeout.OVERTAKES);
    }

    /// Begins a transition. With `OVERTAKES`, a current move that exceeds the timeout is overtaken and has no
    /// effect, so that a sandbox that hangs in a transition can still end.
    private Optional<Move> tryBegin(
            Function<Kind, Optional<Transition>> choice, Duration timeout, OnTimeout onTimeout) {
        lock.lock();
        try {
            for (long left = timeout.toNanos(); moving != null && left > 0; ) {
                left = awaitLocked(left);
            }
            if (moving != null && onTimeout == OnTimeout.GIVES_UP) {
                return Optional.empty();
            }
            Optional<Move> move = choice.apply(Kind.of(state)).map(Move::new);
            if (move.isPresent()) {
                moving = move.get();
            }
            return move;
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

    /// Exclusive right to make one transition. Closing it without [#to] leaves the state unchanged. Confined to the
    /// thread that began it.
    final class Move implements AutoCloseable {
        private final Transition transition;
        private final State before;
        private boolean done;

        private Move(Transition transition) {
            this.transition = transition;
            this.before = state;
        }

        State before() {
            return before;
        }

        /// Makes the transition. Returns false if another move has overtaken this move.
        boolean to(State next) {
            boolean made;
            lock.lock();
            try {
                made = moving == this;
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
            if (moving == this) {
                moving = null;
                changed.signalAll();
            }
        }
    }
}
