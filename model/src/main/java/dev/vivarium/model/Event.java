package dev.vivarium.model;

import java.time.Instant;
import java.util.Optional;

/// Event in the log of a sandbox. `seq` starts at one and has no gaps within a sandbox; `data` is a JSON object as
/// text. Immutable.
///
/// @param task the task of the worker that sent the event; empty if no worker sent it. Not part of the API.
public record Event(
        SandboxId sandbox,
        long seq,
        String id,
        String type,
        String data,
        String source,
        Instant at,
        Optional<TaskId> task) {
    /// An event that no worker sent.
    public Event(SandboxId sandbox, long seq, String id, String type, String data, String source, Instant at) {
        this(sandbox, seq, id, type, data, source, at, Optional.empty());
    }

    /// Returns the same event with other data.
    public Event withData(String other) {
        return new Event(sandbox, seq, id, type, other, source, at, task);
    }

    /// Returns the id of an event that was appended without one.
    public static String idOf(SandboxId sandbox, long seq) {
        return NewEvent.OUR_IDS + sandbox.value() + ":" + seq;
    }
}
