package dev.vivarium.core.shell;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.vivarium.core.exec.Execution;
import dev.vivarium.core.guest.Guest;
import dev.vivarium.core.guest.SurvivingProcess;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// Current terminal of a shell: attached to a guest, or in transit between two guests. Thread-safe.
final class TerminalAttachment {
    /// Maximum wait of a shell for the next guest. If the sandbox ends, the wait ends earlier.
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    @GuardedBy("lock")
    private Guest guest;

    @GuardedBy("lock")
    private @Nullable Execution terminal;

    /// Result of the move to the next guest. Absent until there is one.
    @GuardedBy("lock")
    private @Nullable ReattachResult reattachResult;

    @GuardedBy("lock")
    private @Nullable Failure end;

    private sealed interface ReattachResult {
        record Survived(SurvivingProcess survivor) implements ReattachResult {}

        record Died() implements ReattachResult {}
    }

    TerminalAttachment(Guest guest) {
        this.guest = guest;
    }

    /// Sets the terminal.
    void at(Execution opened) {
        lock.lock();
        try {
            terminal = opened;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /// Takes over a process that the current guest kept.
    Execution takeOver(SurvivingProcess survivor) {
        Execution taken = Execution.attach(guest(), survivor);
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

    /// Switches to another guest, where the process either survived or ended. Does nothing if the shell is on that
    /// guest already.
    void reattached(Guest next, Optional<SurvivingProcess> survivor) {
        lock.lock();
        try {
            if (guest != next) {
                guest = next;
                terminal = null;
                reattachResult = survivor.<ReattachResult>map(ReattachResult.Survived::new)
                        .orElse(new ReattachResult.Died());
                changed.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    /// Waits for the next guest. Returns nothing if the process did not survive, or if no guest connects in time.
    Optional<SurvivingProcess> awaitNext() {
        lock.lock();
        try {
            for (long left = TIMEOUT.toNanos(); reattachResult == null && left > 0; ) {
                left = changed.awaitNanos(left);
            }
            ReattachResult next = reattachResult;
            reattachResult = null;
            return next instanceof ReattachResult.Survived(SurvivingProcess survivor)
                    ? Optional.of(survivor)
                    : Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        } finally {
            lock.unlock();
        }
    }

    /// Returns the current terminal. Waits with a timeout during a move. Throws the failure that ended the shell.
    Execution current() {
        lock.lock();
        try {
            for (long left = TIMEOUT.toNanos(); terminal == null && end == null && left > 0; ) {
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

    /// Detaches from `lost` if it is the current terminal.
    void leave(Execution lost) {
        lock.lock();
        try {
            terminal = terminal == lost ? null : terminal;
        } finally {
            lock.unlock();
        }
    }

    /// Ends the attachment permanently.
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
