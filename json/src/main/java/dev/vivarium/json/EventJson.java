package dev.vivarium.json;

import dev.vivarium.model.Event;
import dev.vivarium.model.NewEvent;
import tools.jackson.core.JsonGenerator;

/// Events of the log as JSON. Stateless.
public final class EventJson {
    private EventJson() {}

    /// An event as a list of the log shows it, between its braces.
    public static void write(JsonGenerator out, Event event) {
        out.writeStringProperty("id", event.id());
        out.writeNumberProperty("seq", event.seq());
        out.writeStringProperty("sandbox_id", event.sandbox().value());
        out.writeStringProperty("event_type", event.type());
        data(out, "event_data", event);
        out.writeStringProperty("source", event.source());
        Json.time(out, "created_at", event.at());
    }

    /// An event as a socket shows it, after the type of the message.
    public static void message(JsonGenerator out, Event event) {
        out.writeNumberProperty("seq", event.seq());
        out.writeStringProperty("event_id", event.id());
        out.writeStringProperty("event_type", event.type());
        out.writeStringProperty("sandbox_id", event.sandbox().value());
        out.writeStringProperty("source", event.source());
        Json.time(out, "timestamp", event.at());
        data(out, "data", event);
    }

    /// What somebody wants to be logged. `source` is theirs to say.
    public static NewEvent read(JsonFields fields, String ordinarySource) {
        var event = new NewEvent(
                fields.optionalString("event_id"),
                fields.string("event_type"),
                fields.optionalObject("event_data").map(JsonFields::text).orElse("{}"),
                fields.optionalString("source").orElse(ordinarySource));
        fields.refuseOthers();
        return event;
    }

    /// It is an object in the log already, written by us.
    private static void data(JsonGenerator out, String name, Event event) {
        out.writeName(name);
        out.writeRawValue(event.data());
    }
}
