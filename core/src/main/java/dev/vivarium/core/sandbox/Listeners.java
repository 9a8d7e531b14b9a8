package dev.vivarium.core.sandbox;

import dev.vivarium.core.exec.CommandStarted;
import dev.vivarium.core.exec.OutputListener;
import dev.vivarium.model.SandboxId;
import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Sandbox listeners in the order of their calls. An exception of a listener is logged and stops no other listener.
/// Thread-safe.
record Listeners(List<SandboxListener> all) {
    private static final Logger LOG = LoggerFactory.getLogger(Listeners.class);

    Listeners {
        all = List.copyOf(all);
    }

    void call(Consumer<SandboxListener> signal) {
        for (SandboxListener listener : all) {
            try {
                signal.accept(listener);
            } catch (RuntimeException e) {
                LOG.warn("A sandbox listener failed: {}", e.getMessage(), e);
            }
        }
    }

    /// Returns the output listener of a new command: the first one that a sandbox listener returns.
    OutputListener outputListener(SandboxId sandbox, CommandStarted commandStarted) {
        for (SandboxListener listener : all) {
            try {
                OutputListener outputListener = listener.command(sandbox, commandStarted);
                if (outputListener != OutputListener.NONE) {
                    return outputListener;
                }
            } catch (RuntimeException e) {
                LOG.warn("A sandbox listener failed: {}", e.getMessage(), e);
            }
        }
        return OutputListener.NONE;
    }
}
