package dev.vivarium.sdk.engine;

import dev.vivarium.model.ExecEvent;
import java.util.Iterator;

/// Running command whose events are read one by one. A slow reader slows the command, and no event is lost. Confined to
/// the reading thread, except for [#close].
///
/// ```
/// try (Run run = box.start("make test")) {
///     for (ExecEvent event : run) { show(event); }
/// }
/// ```
public interface Run extends AutoCloseable, Iterable<ExecEvent> {
    /// Waits for the next event. The last event is `Exited`; another call after it throws `IllegalStateException`.
    /// Throws `SandboxException` if the command was lost.
    ExecEvent next();

    /// Kills the command and its descendants, if it still runs. Idempotent. Any thread may call it; a thread that
    /// waits in [#next] then returns or throws.
    @Override
    void close();

    /// Returns the remaining events. All iterators share one sequence.
    @Override
    default Iterator<ExecEvent> iterator() {
        return new RunIterator(this);
    }
}
