package dev.vivarium.sdk.engine;

import dev.vivarium.model.ExecEvent;
import java.util.Iterator;

/// A running command whose events are pulled one by one. A reader that pauses slows the command down and loses nothing.
/// Confined to the worker that reads it, except for [#close].
///
/// ```
/// try (Run run = box.start("make test")) {
///     for (ExecEvent event : run) { show(event); }
/// }
/// ```
public interface Run extends AutoCloseable, Iterable<ExecEvent> {
    /// Waits for the next event. The last is always `Exited`; calling again after it is a bug and throws
    /// `IllegalStateException`. Throws `SandboxException` when the command was lost on the way.
    ExecEvent next();

    /// Kills the command, with all it started, if it still runs, and releases it. Idempotent; any worker
    /// may call it, and
    /// a worker that waits in [#next] then returns or throws.
    @Override
    void close();

    /// The events from here to the last one. There is one sequence: a second iterator goes on where the
    /// first stopped.
    @Override
    default Iterator<ExecEvent> iterator() {
        return new RunIterator(this);
    }
}
