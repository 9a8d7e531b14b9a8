package dev.vivarium.model;

import java.time.Instant;

/// Something that happened to a sandbox, as its log keeps it. `seq` counts from one, without gaps, for each sandbox;
/// `data` is a JSON object as text. Immutable.
public record Event(SandboxId sandbox, long seq, String id, String type, String data, String source, Instant at) {
    /// The same event with other data.
    public Event withData(String other) {
        return new Event(sandbox, seq, id, type, other, source, at);
    }

    /// The id of an event to which nobody gave one.
    public static String idOf(SandboxId sandbox, long seq) {
        return NewEvent.OUR_IDS + sandbox.value() + ":" + seq;
    }
}
