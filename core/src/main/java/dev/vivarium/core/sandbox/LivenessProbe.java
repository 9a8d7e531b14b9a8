package dev.vivarium.core.sandbox;

import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/// Asks every guest now and then whether it still answers. A program can stop its own sandbox's guest (whoever wins a
/// race against the start of a command can), and whoever waits for such a guest, the reaper among them, would wait for
/// ever. One that stays silent loses its stream; what then becomes of it is decided as for any other loss. Thread-safe.
final class LivenessProbe {
    static final Duration EVERY = Duration.ofSeconds(20);

    /// Generous: a guest shares the processor time of the sandbox it serves.
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final Engine engine;
    private final Set<SandboxId> beingAsked = ConcurrentHashMap.newKeySet();

    LivenessProbe(Engine engine) {
        this.engine = engine;
    }

    void beat() {
        for (Sandbox sandbox : engine.registry.all()) {
            if (sandbox.lifecycle().state() instanceof State.Running running && beingAsked.add(sandbox.id())) {
                engine.tasks.start("vigil-" + sandbox.id(), () -> {
                    try {
                        ask(sandbox, running);
                    } finally {
                        beingAsked.remove(sandbox.id());
                    }
                });
            }
        }
    }

    private void ask(Sandbox sandbox, State.Running running) {
        try {
            running.guest().pingWithin(PATIENCE);
        } catch (SandboxException e) {
            // One that was paused meanwhile cannot answer, and need not. A drain interrupts the question.
            if (!engine.isDraining() && sandbox.lifecycle().state().equals(running)) {
                running.guest().close();
            }
        }
    }
}
