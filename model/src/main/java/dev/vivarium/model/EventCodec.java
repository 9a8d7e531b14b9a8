package dev.vivarium.model;

/// Converter between events and their stored text. Implementations are thread-safe.
public interface EventCodec {
    /// Returns the data of an event as JSON.
    String encode(EventBody body);

    /// Returns the event of a type with this data. Never fails: if the server does not know the type, or the data
    /// does not have the fields of the type, returns [EventBody.Custom].
    EventBody decode(String type, String data);

    default EventBody decode(Event event) {
        return decode(event.type(), event.data());
    }
}
