package dev.vivarium.core.sandbox;

import dev.vivarium.model.End;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/// Periodic task that ends sandboxes whose lifetime or idle timeout is over. Thread-safe.
///
/// The reaper checks every lease on each run: a thousand leases cost microseconds, and a changed lease needs no special
/// case. It asks the guest for running processes only if a lease is idle.
final class Reaper {
    private final Registry registry;
    private final BackgroundTasks tasks;
    private final Termination termination;
    private final Set<SandboxId> underExamination = ConcurrentHashMap.newKeySet();

    Reaper(Registry registry, BackgroundTasks tasks, Termination termination) {
        this.registry = registry;
        this.tasks = tasks;
        this.termination = termination;
    }

    void runOnce() {
        for (Sandbox sandbox : registry.all()) {
            if (isDue(sandbox) && underExamination.add(sandbox.id())) {
                tasks.start("reap-" + sandbox.id(), () -> {
                    try {
                        reapIfIdle(sandbox);
                    } finally {
                        underExamination.remove(sandbox.id());
                    }
                });
            }
        }
    }

    boolean isDue(Sandbox sandbox) {
        return sandbox.lease().isOver() || sandbox.lease().isIdleTooLong();
    }

    /// Ends a sandbox whose lease is over, unless a process runs inside.
    void reapIfIdle(Sandbox sandbox) {
        if (sandbox.lease().isOver()) {
            termination.end(
                    sandbox,
                    End.Cause.LIFETIME,
                    "it lived as long as a sandbox may, until "
                            + sandbox.lease().endsAt());
        } else if (sandbox.lease().isIdleTooLong()) {
            if (runsSomething(sandbox)) {
                sandbox.lease().touch();
            } else if (sandbox.lease().isIdleTooLong()) {
                // A client may have used the sandbox during the request to the guest.
                termination.end(
                        sandbox,
                        End.Cause.IDLE,
                        "nobody used it since " + sandbox.lease().lastActivity());
            }
        }
    }

    private static boolean runsSomething(Sandbox sandbox) {
        return switch (sandbox.lifecycle().state()) {
            case State.Running running -> {
                try {
                    yield running.guest().stats().processes() > 0;
                } catch (SandboxException e) {
                    // The stream broke. The next run checks again.
                    yield true;
                }
            }
            case State.Recovering _, State.Creating _ -> true;
            case State.Paused _, State.Terminated _, State.Failed _ -> false;
        };
    }
}
