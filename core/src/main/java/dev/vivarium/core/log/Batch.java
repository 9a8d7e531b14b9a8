package dev.vivarium.core.log;

import dev.vivarium.model.Event;
import java.util.List;

/// Events in order, and the number of missed events before them. Immutable.
///
/// A reader misses events if the log was pruned at its position, or if it was too slow for a live-only stream.
public record Batch(List<Event> events, long missed) {
    static final Batch NOTHING = new Batch(List.of(), 0);

    public Batch {
        events = List.copyOf(events);
    }

    public boolean isEmpty() {
        return events.isEmpty() && missed == 0;
    }
}
