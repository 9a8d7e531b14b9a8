package dev.vivarium.core.sandbox;

import dev.vivarium.model.End;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/// Ends sandboxes whose time is over. Thread-safe.
///
/// It looks at every lease on each beat: a thousand of them cost microseconds, and no lease can be overlooked because
/// it was extended, shortened or restored. Only for one that looks idle does it ask the guest whether something runs
/// inside.
final class Reaper {
    private final Registry registry;
    private final BackgroundTasks tasks;
    private final Termination ending;
    private final Set<SandboxId> underExamination = ConcurrentHashMap.newKeySet();

    Reaper(Registry registry, BackgroundTasks tasks, Termination ending) {
        this.registry = registry;
        this.tasks = tasks;
        this.ending = ending;
    }

    void beat() {
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

    /// Ends a sandbox that is due, unless something turns out to run inside.
    void reapIfIdle(Sandbox sandbox) {
        if (sandbox.lease().isOver()) {
            ending.end(
                    sandbox,
                    End.Cause.LIFETIME,
                    "it lived as long as a sandbox may, until "
                            + sandbox.lease().endsAt());
        } else if (sandbox.lease().isIdleTooLong()) {
            if (runsSomething(sandbox)) {
                sandbox.lease().touch();
            } else if (sandbox.lease().isIdleTooLong()) {
                // Asked again: somebody may have come while the guest was asked.
                ending.end(
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
                    // A stream that broke just now: whoever looks after it decides, and the next beat looks again.
                    yield true;
                }
            }
            case State.Recovering _, State.Creating _ -> true;
            case State.Paused _, State.Terminated _, State.Failed _ -> false;
        };
    }
}
