package dev.vivarium.core;

import java.util.ArrayDeque;
import java.util.Deque;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The way back out of a list of steps: what was added is run in reverse on [#close], unless [#keep] was reached.
/// Confined to the worker that makes it.
public final class Undo implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Undo.class);

    private final Deque<Step> steps = new ArrayDeque<>();

    private record Step(String name, Runnable action) {}

    public void add(String name, Runnable action) {
        steps.push(new Step(name, action));
    }

    /// Closes `part` on the way back. Returns it.
    public <T extends AutoCloseable> T add(T part) {
        steps.push(new Step("close the " + part.getClass().getSimpleName(), () -> close(part)));
        return part;
    }

    /// Everything worked: nothing will be undone.
    public void keep() {
        steps.clear();
    }

    @Override
    public void close() {
        while (!steps.isEmpty()) {
            Step step = steps.pop();
            try {
                step.action().run();
            } catch (RuntimeException e) {
                // The other steps must still be undone; what is left over is the reconciler's.
                LOG.warn("could not {}: {}", step.name(), e.getMessage());
            }
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
