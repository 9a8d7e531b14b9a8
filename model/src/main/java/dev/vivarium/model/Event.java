package dev.vivarium.model;

import java.time.Instant;
import java.util.Optional;

/// Event in a log. `seq` starts at one and has no gaps within a log; `data` is a JSON object as text. Immutable.
///
/// @param task the task of the worker that sent the event; empty if no worker sent it. Not part of the API.
public record Event(
        LogId logId, long seq, String id, String type, String data, String source, Instant at, Optional<TaskId> task) {
    public Event withData(String other) {
        return new Event(logId, seq, id, type, other, source, at, task);
    }

    public Event withSeq(long other) {
        return new Event(logId, other, id, type, data, source, at, task);
    }

    /// Returns the sandbox of the event. Events of tasks have none.
    public Optional<SandboxId> sandbox() {
        return logId instanceof SandboxId id ? Optional.of(id) : Optional.empty();
    }

    /// Returns the id of an event that was appended without one.
    public static String idOf(LogId logId, long seq) {
        return NewEvent.OUR_IDS + logId.value() + ":" + seq;
    }
}
