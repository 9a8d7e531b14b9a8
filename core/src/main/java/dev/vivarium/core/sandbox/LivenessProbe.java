package dev.vivarium.core.sandbox;

import dev.vivarium.model.SandboxException;
import java.time.Duration;

/// Periodic ping of every guest. Thread-safe.
///
/// A program that wins a race against the start of a command can stop the guest of its sandbox, and every caller of
/// that guest would wait for ever. The probe closes the stream of a guest that does not reply, and the server handles
/// the disconnect like any other.
final class LivenessProbe {
    static final Duration EVERY = Duration.ofSeconds(20);

    /// Long, because a guest shares the processor time of its sandbox.
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private final Registry registry;
    private final BackgroundTasks tasks;

    LivenessProbe(Registry registry, BackgroundTasks tasks) {
        this.registry = registry;
        this.tasks = tasks;
    }

    void runOnce() {
        for (Sandbox sandbox : registry.all()) {
            if (sandbox.lifecycle().state() instanceof State.Running running) {
                tasks.startOnce("liveness-" + sandbox.id(), () -> ask(sandbox, running));
            }
        }
    }

    private void ask(Sandbox sandbox, State.Running running) {
        try {
            running.guest().pingWithin(TIMEOUT);
        } catch (SandboxException e) {
            // A paused guest cannot reply. A drain interrupts the ping.
            if (!tasks.isDraining() && sandbox.lifecycle().state().equals(running)) {
                running.guest().close();
            }
        }
    }
}
