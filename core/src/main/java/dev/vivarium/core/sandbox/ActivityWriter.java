package dev.vivarium.core.sandbox;

import dev.vivarium.core.store.SandboxRows;
import dev.vivarium.model.SandboxId;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;

/// Writer of the times at which sandboxes were last used. It writes all of them together at intervals, because a write
/// for each command would cost more than the command. Thread-safe.
final class ActivityWriter {
    private final Registry registry;
    private final SandboxRows rows;

    ActivityWriter(Registry registry, SandboxRows rows) {
        this.registry = registry;
        this.rows = rows;
    }

    void flush() {
        Map<SandboxId, Instant> times = new HashMap<>();
        for (Sandbox sandbox : registry.all()) {
            if (sandbox.lease().takeUnsaved()) {
                times.put(sandbox.id(), sandbox.lease().lastActivity());
            }
        }
        if (!times.isEmpty()) {
            rows.lastActivity(times);
        }
    }
}
