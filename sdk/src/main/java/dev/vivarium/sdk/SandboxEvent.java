package dev.vivarium.sdk;

import dev.vivarium.json.JsonFields;
import java.time.Instant;

/// An event of the log of a sandbox as a client receives it. Immutable.
///
/// @param seq  counts from one for each sandbox, without gaps
/// @param data the data of the event, a JSON object
/// @param json the whole event as the server sent it, a JSON object
public record SandboxEvent(long seq, String type, String source, Instant at, String data, String json) {
    public boolean isRunEnd() {
        return type.equals("sandbox.run_ended");
    }

    static SandboxEvent read(JsonFields fields) {
        return new SandboxEvent(
                fields.integer("seq"),
                fields.string("event_type"),
                fields.string("source"),
                fields.time("created_at"),
                fields.object("event_data").text(),
                fields.text());
    }
}
