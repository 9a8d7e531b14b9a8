package dev.vivarium.core.sandbox;

import dev.vivarium.core.provider.Label;
import dev.vivarium.core.provider.Trace;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Writes beside each disk whose it is, so that a server with another store can give it back. Thread-safe.
final class Ownership {
    private static final Logger LOG = LoggerFactory.getLogger(Ownership.class);

    private final Engine engine;

    Ownership(Engine engine) {
        this.engine = engine;
    }

    /// Writes the label of a sandbox that is handed out, in the background: only a server with another store reads
    /// it.
    void labelLater(Sandbox sandbox) {
        engine.tasks.start("label-" + sandbox.id(), () -> label(sandbox));
    }

    /// For a sandbox of an earlier server, which may have been killed before it wrote the label.
    void confirm(Sandbox sandbox) {
        try {
            engine.inventory.recordUse(sandbox.id());
            Trace trace = engine.inventory.trace(sandbox.id());
            if (!trace.label().equals(Optional.of(labelOf(sandbox)))) {
                label(sandbox);
            }
        } catch (RuntimeException e) {
            LOG.warn("the label of {} could not be checked: {}", sandbox.id(), e.getMessage());
        }
    }

    /// The sandbox may have ended meanwhile, and its files may be gone: then the label must not stay.
    private void label(Sandbox sandbox) {
        try {
            engine.inventory.label(sandbox.id(), labelOf(sandbox));
            if (sandbox.info().end().isPresent()
                    && !engine.inventory.trace(sandbox.id()).hasDisk()) {
                engine.inventory.deleteLabel(sandbox.id());
            }
        } catch (RuntimeException e) {
            LOG.warn("the label of {} could not be written: {}", sandbox.id(), e.getMessage());
        }
    }

    private Label labelOf(Sandbox sandbox) {
        return Labels.of(engine.store, sandbox.row());
    }
}
