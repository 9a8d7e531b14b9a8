package dev.vivarium.sdk.engine;

import dev.vivarium.model.ExecEvent;
import java.util.Iterator;
import java.util.NoSuchElementException;

/// Iterator over the events of a run. Confined to one thread.
final class RunIterator implements Iterator<ExecEvent> {
    private final Run run;
    private boolean finished;

    RunIterator(Run run) {
        this.run = run;
    }

    @Override
    public boolean hasNext() {
        return !finished;
    }

    @Override
    public ExecEvent next() {
        if (finished) {
            throw new NoSuchElementException();
        }
        ExecEvent event = run.next();
        finished = event.isLast();
        return event;
    }
}
