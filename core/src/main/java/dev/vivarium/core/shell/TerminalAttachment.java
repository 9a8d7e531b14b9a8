package dev.vivarium.core.shell;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.vivarium.core.guest.Guest;
import dev.vivarium.core.guest.SurvivingProcess;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// Where a shell's terminal is now: on which guest, or between two of them. Thread-safe.
final class TerminalAttachment {
    /// How long a shell whose guest was lost waits to be found again; a sandbox that ends meanwhile ends it sooner.
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    @GuardedBy("lock")
    private Guest guest;

    @GuardedBy("lock")
    private @Nullable Terminal terminal;

    /// What became of it on the next guest; absent until there is one.
    @GuardedBy("lock")
    private @Nullable Fate fate;

    @GuardedBy("lock")
    private @Nullable Failure end;

    private sealed interface Fate {
        record Survived(SurvivingProcess survivor) implements Fate {}

        record Died() implements Fate {}
    }

    TerminalAttachment(Guest guest) {
        this.guest = guest;
    }

    /// It is on this terminal.
    void at(Terminal opened) {
        lock.lock();
        try {
            terminal = opened;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /// Takes over what the present guest has kept.
    Terminal takeOver(SurvivingProcess survivor) {
        Terminal taken = Terminal.attach(guest(), survivor);
        at(taken);
        return taken;
    }

    private Guest guest() {
        lock.lock();
        try {
            return guest;
        } finally {
            lock.unlock();
        }
    }

    /// There is another guest, where it either goes on or is no more. One that is on that guest already stays.
    void moved(Guest next, Optional<SurvivingProcess> survivor) {
        lock.lock();
        try {
            if (guest != next) {
                guest = next;
                terminal = null;
                fate = survivor.<Fate>map(Fate.Survived::new).orElse(new Fate.Died());
                changed.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    /// Waits for the next guest. Nothing when it did not survive there, or when none came.
    Optional<SurvivingProcess> awaitNext() {
        lock.lock();
        try {
            for (long left = PATIENCE.toNanos(); fate == null && left > 0; ) {
                left = changed.awaitNanos(left);
            }
            Fate next = fate;
            fate = null;
            return next instanceof Fate.Survived(SurvivingProcess survivor) ? Optional.of(survivor) : Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        } finally {
            lock.unlock();
        }
    }

    /// The terminal as it is now; waits a little while it is being found again. Throws what it ended with.
    Terminal current() {
        lock.lock();
        try {
            for (long left = PATIENCE.toNanos(); terminal == null && end == null && left > 0; ) {
                left = changed.awaitNanos(left);
            }
            if (end != null || terminal == null) {
                throw new SandboxException(
                        end != null ? end : new Failure.GuestUnreachable(guest.id(), "it is still being brought back"));
            }
            return terminal;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SandboxException(new Failure.ShuttingDown(), e);
        } finally {
            lock.unlock();
        }
    }

    /// It is not on `lost` any more, wherever it is.
    void leave(Terminal lost) {
        lock.lock();
        try {
            terminal = terminal == lost ? null : terminal;
        } finally {
            lock.unlock();
        }
    }

    /// It is nowhere any more.
    void end(Failure why) {
        lock.lock();
        try {
            end = why;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
