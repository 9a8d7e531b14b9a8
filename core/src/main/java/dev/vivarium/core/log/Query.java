package dev.vivarium.core.log;

import dev.vivarium.model.Event;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.time.Instant;
import java.util.Optional;

/// Filter for the events of a sandbox, oldest first. Immutable.
///
/// @param type a whole type (`agent.started`), or a prefix that ends with a dot (`agent.`)
public record Query(long afterSeq, Optional<Instant> since, Optional<String> type, int limit) {
    public static final int MOST = 1000;

    /// Maximum size of the data in one read, regardless of the limit. The next read returns the rest.
    public static final int MOST_CHARACTERS = 2 * 1024 * 1024;

    public Query {
        if (limit < 1 || limit > MOST) {
            throw new SandboxException(new Failure.InvalidRequest("limit", "must be 1 to " + MOST));
        }
        if (afterSeq < 0) {
            throw new SandboxException(new Failure.InvalidRequest("after_seq", "must not be negative"));
        }
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
