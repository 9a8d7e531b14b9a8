package dev.vivarium.json;

import dev.vivarium.model.Event;
import dev.vivarium.model.NewEvent;
import tools.jackson.core.JsonGenerator;

/// JSON form of log events. Stateless.
public final class EventJson {
    private EventJson() {}

    /// Writes the fields of an event in a log listing.
    public static void write(JsonGenerator out, Event event) {
        out.writeStringProperty("id", event.id());
        out.writeNumberProperty("seq", event.seq());
        out.writeStringProperty("sandbox_id", event.sandbox().value());
        out.writeStringProperty("event_type", event.type());
        data(out, "event_data", event);
        out.writeStringProperty("source", event.source());
        Json.time(out, "created_at", event.at());
    }

    /// Writes the fields of an event in a socket message, after the type of the message.
    public static void message(JsonGenerator out, Event event) {
        out.writeNumberProperty("seq", event.seq());
        out.writeStringProperty("event_id", event.id());
        out.writeStringProperty("event_type", event.type());
        out.writeStringProperty("sandbox_id", event.sandbox().value());
        out.writeStringProperty("source", event.source());
        Json.time(out, "timestamp", event.at());
        data(out, "data", event);
    }

    /// Reads an event to append. The client may set `source`.
    public static NewEvent read(JsonFields fields, String ordinarySource) {
        var event = new NewEvent(
                fields.optionalString("event_id"),
                fields.string("event_type"),
                fields.optionalObject("event_data").map(JsonFields::text).orElse("{}"),
                fields.optionalString("source").orElse(ordinarySource));
        fields.refuseOthers();
        return event;
    }

    /// The data is a JSON object that this server wrote, so it is copied unchanged.
    private static void data(JsonGenerator out, String name, Event event) {
        out.writeName(name);
        out.writeRawValue(event.data());
    }
}
