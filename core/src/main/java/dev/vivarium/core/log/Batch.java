package dev.vivarium.core.log;

import dev.vivarium.model.Event;
import java.util.List;

/// Events in their order, and how many came before them that this reader will not see: its place in the log was cut
/// off, or it was too slow for a stream that is live only. Immutable.
public record Batch(List<Event> events, long missed) {
    static final Batch NOTHING = new Batch(List.of(), 0);

    public Batch {
        events = List.copyOf(events);
    }

    public boolean isEmpty() {
        return events.isEmpty() && missed == 0;
    }
}
