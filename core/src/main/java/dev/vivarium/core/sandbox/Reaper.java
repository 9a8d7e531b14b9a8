package dev.vivarium.core.sandbox;

import dev.vivarium.model.End;
import dev.vivarium.model.OnIdle;
import dev.vivarium.model.SandboxException;

/// Periodic task that ends or hibernates sandboxes whose lifetime or idle timeout is over. Thread-safe.
///
/// The reaper checks every lease on each run: a thousand leases cost microseconds, and a changed lease needs no special
/// case. It asks the guest for its processes only if a lease is idle.
final class Reaper {
    private final Registry registry;
    private final BackgroundTasks tasks;
    private final Termination termination;
    private final Hibernation hibernation;
    private final TimeSource timeSource;

    Reaper(Engine engine, Termination termination, Hibernation hibernation) {
        this.registry = engine.registry;
        this.tasks = engine.tasks;
        this.timeSource = engine.timeSource;
        this.termination = termination;
        this.hibernation = hibernation;
    }

    void runOnce() {
        for (Sandbox sandbox : registry.all()) {
            if (isDue(sandbox)) {
                tasks.startOnce("reap-" + sandbox.id(), () -> reapIfIdle(sandbox));
            } else if (sandbox.processActivity().isSampleDue(sandbox.lease())) {
                tasks.startOnce("sample-" + sandbox.id(), () -> sample(sandbox));
            }
        }
        hibernation.retryRemovals();
    }

    private void sample(Sandbox sandbox) {
        if (sandbox.lifecycle().state() instanceof State.Running running) {
            sandbox.processActivity().sample(sandbox.lease(), running, timeSource);
        }
    }

    boolean isDue(Sandbox sandbox) {
        return sandbox.lease().isOver() || canBeIdle(sandbox) && sandbox.lease().isIdleTooLong();
    }

    /// Reports whether a lookup must end the sandbox at once. A sandbox that would hibernate is used instead.
    boolean mustEnd(Sandbox sandbox) {
        boolean isHibernated = sandbox.lifecycle().state() instanceof State.Hibernated;
        return isDue(sandbox) && (isHibernated || !hibernates(sandbox));
    }

    /// The idle time of a recovering sandbox starts with its recovery.
    private static boolean canBeIdle(Sandbox sandbox) {
        return switch (sandbox.lifecycle().state()) {
            case State.Running _, State.Paused _ -> true;
            case State.Creating _, State.Recovering _, State.Hibernated _, State.Terminated _, State.Failed _ -> false;
        };
    }

    /// Ends or hibernates a sandbox whose lease is over, unless a process works inside.
    void reapIfIdle(Sandbox sandbox) {
        Lease lease = sandbox.lease();
        if (sandbox.lifecycle().state() instanceof State.Hibernated(PauseReason why)) {
            if (lease.isOver()) {
                termination.end(
                        sandbox,
                        End.Cause.IDLE,
                        "it was hibernated (" + why.sentence() + ") and no call started it again");
            }
        } else if (lease.isOver()) {
            finish(
                    sandbox,
                    new PauseReason(
                            PauseReason.Cause.LIFETIME, "it lived as long as a sandbox may, until " + lease.endsAt()));
        } else if (canBeIdle(sandbox)
                && lease.isIdleTooLong()
                && !hasActiveProcesses(sandbox)
                && lease.isIdleTooLong()) {
            // Checked twice, because a client may have used the sandbox during the request to the guest.
            finish(sandbox, new PauseReason(PauseReason.Cause.IDLE, "unused since " + lease.lastActivity()));
        }
    }

    /// A paused sandbox is never deleted because nobody used it: its user wanted to continue later.
    private static boolean hibernates(Sandbox sandbox) {
        boolean isUnused = sandbox.lifecycle().state() instanceof State.Paused
                && !sandbox.lease().isOver();
        return isUnused || sandbox.row().onIdle() == OnIdle.HIBERNATE;
    }

    private void finish(Sandbox sandbox, PauseReason why) {
        if (hibernates(sandbox)) {
            hibernation.hibernate(sandbox, why);
        } else {
            var cause = why.cause() == PauseReason.Cause.LIFETIME ? End.Cause.LIFETIME : End.Cause.IDLE;
            termination.end(sandbox, cause, why.detail());
        }
    }

    private boolean hasActiveProcesses(Sandbox sandbox) {
        if (!(sandbox.lifecycle().state() instanceof State.Running running)) {
            return false;
        }
        try {
            boolean isInUse = sandbox.processActivity().isInUse(sandbox.lease(), running, timeSource);
            if (isInUse) {
                sandbox.lease().touch();
            }
            return isInUse;
        } catch (SandboxException e) {
            return true; // The stream broke. The next run checks again.
        }
    }
}
