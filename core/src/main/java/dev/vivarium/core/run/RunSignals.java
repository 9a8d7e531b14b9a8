package dev.vivarium.core.run;

import dev.vivarium.core.sandbox.SandboxListener;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// Signals of each sandbox that the desired state of its run or a review has changed. Thread-safe.
public final class RunSignals implements SandboxListener {
    private final Map<SandboxId, MessageSignal> signals = new ConcurrentHashMap<>();

    MessageSignal of(SandboxId sandbox) {
        return signals.computeIfAbsent(sandbox, any -> new MessageSignal());
    }

    void signal(SandboxId sandbox) {
        signal(signals.get(sandbox));
    }

    @Override
    public void ended(SandboxInfo sandbox) {
        signal(signals.remove(sandbox.id()));
    }

    private static void signal(@Nullable MessageSignal signal) {
        if (signal != null) {
            signal.signal();
        }
    }
}
