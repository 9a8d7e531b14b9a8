package dev.vivarium.core.sandbox;

import java.util.ArrayDeque;
import java.util.Deque;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The way back out of a list of steps: what was added is run in reverse on [#close], unless [#keep] was reached.
/// Confined to the worker that makes it.
final class Undo implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Undo.class);

    private final Deque<Step> steps = new ArrayDeque<>();

    private record Step(String name, Runnable action) {}

    void add(String name, Runnable action) {
        steps.push(new Step(name, action));
    }

    /// Everything worked: nothing will be undone.
    void keep() {
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
}
