package dev.vivarium.core.log;

import static dev.vivarium.model.Failure.InvalidRequest.require;

import dev.vivarium.model.Event;
import java.time.Instant;
import java.util.Optional;

/// Filter for the events of a log, oldest first. Immutable.
///
/// @param type a whole type (`agent.started`), or a prefix that ends with a dot (`agent.`)
public record Query(long afterSeq, Optional<Instant> since, Optional<String> type, int limit) {
    public static final int MOST = 1000;

    /// Maximum size of the data in one read, regardless of the limit. The next read returns the rest.
    public static final int MAX_CHARACTERS = 2 * 1024 * 1024;

    public Query {
        require(limit >= 1 && limit <= MOST, "limit", "must be 1 to " + MOST);
        require(afterSeq >= 0, "after_seq", "must not be negative");
    }

    /// Reports whether the filter matches an event, regardless of its position.
    public boolean includes(Event event) {
        return since.filter(event.at()::isBefore).isEmpty()
                && type.filter(wanted -> wanted.endsWith(".")
                                ? !event.type().startsWith(wanted)
                                : !event.type().equals(wanted))
                        .isEmpty();
    }

    public static Query after(long seq, int limit) {
        return new Query(seq, Optional.empty(), Optional.empty(), limit);
    }
}
