package dev.vivarium.core.sandbox;

import dev.vivarium.model.SandboxId;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;

/// Tells the store when sandboxes were last used: now and then and all at once, since a write for every command would
/// cost more than the command. Thread-safe.
final class ActivityWriter {
    private final Engine engine;

    ActivityWriter(Engine engine) {
        this.engine = engine;
    }

    void flush() {
        Map<SandboxId, Instant> times = new HashMap<>();
        for (Sandbox sandbox : engine.registry.all()) {
            if (sandbox.lease().takeUnsaved()) {
                times.put(sandbox.id(), sandbox.lease().lastActivity());
            }
        }
        if (!times.isEmpty()) {
            engine.rows.lastActivity(times);
        }
    }
}
