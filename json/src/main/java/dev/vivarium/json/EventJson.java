package dev.vivarium.json;

import static dev.vivarium.json.JsonType.RAW_OBJECT;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.json.ObjectType.optional;

import dev.vivarium.model.Event;
import dev.vivarium.model.NewEvent;
import java.util.Optional;
import tools.jackson.core.JsonGenerator;

/// JSON form of log events. Stateless.
public final class EventJson {
    /// An event to append.
    public static final ObjectType<Sent> NEW_EVENT = object(
                    Sent::new,
                    optional(
                            "event_id",
                            STRING.with("maxLength", 100),
                            "The id of the event. An event with an existing id is not appended again."),
                    field("event_type", STRING.with("maxLength", 100).with("pattern", "^[a-zA-Z0-9_.]+$")),
                    optional("event_data", RAW_OBJECT, "At most 100 KB as JSON."),
                    optional("source", STRING))
            .named("NewEvent")
            .closed();

    /// The fields of a request; [NewEvent] validates them.
    public record Sent(Optional<String> id, String type, Optional<String> data, Optional<String> source) {}

    private EventJson() {}

    /// Writes the fields of an event in a socket message, after the type of the message.
    public static void message(JsonGenerator out, Event event) {
        out.writeNumberProperty("seq", event.seq());
        out.writeStringProperty("event_id", event.id());
        out.writeStringProperty("event_type", event.type());
        event.sandbox().ifPresent(id -> out.writeStringProperty("sandbox_id", id.value()));
        out.writeStringProperty("source", event.source());
        Json.time(out, "timestamp", event.at());
        data(out, "data", event);
    }

    /// Reads an event to append. The default of `source` is `ordinarySource`.
    public static NewEvent read(JsonFields fields, String ordinarySource) {
        var sent = NEW_EVENT.read(fields);
        return new NewEvent(
                sent.id(), sent.type(), sent.data().orElse("{}"), sent.source().orElse(ordinarySource));
    }

    /// The data is a JSON object that this server wrote, so it is copied unchanged.
    private static void data(JsonGenerator out, String name, Event event) {
        out.writeName(name);
        out.writeRawValue(event.data());
    }
}
