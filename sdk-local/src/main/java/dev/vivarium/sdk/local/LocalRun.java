package dev.vivarium.sdk.local;

import dev.vivarium.core.exec.Execution;
import dev.vivarium.model.ExecEvent;
import dev.vivarium.sdk.engine.Run;

/// Command in a sandbox of this process. Confined to the reading thread, except for [#close].
final class LocalRun implements Run {
    private final Execution execution;

    LocalRun(Execution execution) {
        this.execution = execution;
    }

    @Override
    public ExecEvent next() {
        return LocalEngine.interruptibly(execution::next);
    }

    @Override
    public void close() {
        execution.close();
    }
}
