package dev.vivarium.core;

import java.util.Deque;
import java.util.concurrent.ConcurrentLinkedDeque;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Steps that [#close] runs in reverse order: to roll back a construction that failed, or to close parts in the
/// reverse order of their construction. Thread-safe.
public final class Undo implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Undo.class);

    private final Deque<Step> steps = new ConcurrentLinkedDeque<>();

    private record Step(String name, Runnable action) {}

    public void add(String name, Runnable action) {
        steps.push(new Step(name, action));
    }

    /// Adds the close of `part`, and returns `part`.
    public <T extends AutoCloseable> T add(T part) {
        steps.push(new Step("close the " + part.getClass().getSimpleName(), () -> close(part)));
        return part;
    }

    /// Moves all steps to the result, so that [#close] of this object runs none of them.
    public Undo keep() {
        var kept = new Undo();
        kept.steps.addAll(steps);
        steps.clear();
        return kept;
    }

    /// Runs each step once. A step that fails is logged, and the other steps still run. Idempotent.
    @Override
    public void close() {
        Step step = steps.poll();
        while (step != null) {
            try {
                step.action().run();
            } catch (RuntimeException e) {
                LOG.warn("could not {}: {}", step.name(), e.getMessage());
            }
            step = steps.poll();
        }
    }

    private static void close(AutoCloseable part) {
        try {
            part.close();
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
