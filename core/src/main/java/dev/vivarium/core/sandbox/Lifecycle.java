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

/// The state of one sandbox and the right to change it. Thread-safe.
///
/// The lock is held only to decide. Whoever may make a step holds a [Move] instead, writes the store and does the slow
/// work with no lock held, and then says [Move#to]; others who want to make a step wait for that, readers never do.
final class Lifecycle {
    private final Consumer<Transition> listener;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    /// Who has the right to make the next step, if anybody has.
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

    /// What becomes of a move that takes too long.
    private enum Haste {
        OVERTAKES,
        GIVES_UP
    }

    /// Takes the right to make `step`, if the sandbox is where it begins once moves under way have ended. Pausing
    /// and resuming can wait for the next time: they overtake nobody.
    Optional<Move> tryBegin(Transition step, Duration patience) {
        boolean canWait = step == Transition.PAUSE || step == Transition.RESUME;
        return tryBegin(
                kind -> Optional.of(step).filter(wanted -> wanted.from() == kind),
                patience,
                canWait ? Haste.GIVES_UP : Haste.OVERTAKES);
    }

    /// Takes the right to end as `end` says, from wherever the sandbox is. Nothing when it has ended.
    Optional<Move> tryEnd(Kind end, Duration patience) {
        return tryBegin(kind -> Transition.between(kind, end), patience, Haste.OVERTAKES);
    }

    /// A move under way that takes longer than `patience` is overtaken, and counts no more however it ends: a
    /// sandbox that hangs in a step must still be able to end.
    private Optional<Move> tryBegin(Function<Kind, Optional<Transition>> choice, Duration patience, Haste haste) {
        lock.lock();
        try {
            for (long left = patience.toNanos(); moving != null && left > 0; ) {
                left = awaitLocked(left);
            }
            if (moving != null && haste == Haste.GIVES_UP) {
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

    /// Waits until the state is one that `wanted` accepts, or for as long as `patience` allows; returns the state
    /// then.
    State await(Predicate<State> wanted, Duration patience) {
        State now = state;
        if (wanted.test(now)) {
            return now;
        }
        lock.lock();
        try {
            for (long left = patience.toNanos(); !wanted.test(state) && left > 0; ) {
                left = awaitLocked(left);
            }
            return state;
        } finally {
            lock.unlock();
        }
    }

    /// Returns how long is left to wait: nothing for an interrupted worker, which should leave.
    @GuardedBy("lock")
    private long awaitLocked(long nanos) {
        try {
            return changed.awaitNanos(nanos);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return 0;
        }
    }

    /// The right to make one step. Closing it without [#to] leaves the sandbox where it was. Confined to the worker
    /// that began it.
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

        /// Makes the step. Reports whether it counted: not if somebody lost patience with it and overtook.
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
