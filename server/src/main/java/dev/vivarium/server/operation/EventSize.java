package dev.vivarium.server.operation;

import dev.vivarium.model.Event;
import java.util.List;

/// Memory estimate for events. Stateless.
public final class EventSize {
    /// Memory of an event without its data, in bytes.
    private static final int EVENT_BYTES = 200;

    private EventSize() {}

    /// Returns the approximate memory of events, in bytes.
    public static long of(List<Event> events) {
        return events.stream()
                .mapToLong(event -> EVENT_BYTES + 2L * event.data().length())
                .sum();
    }
}
