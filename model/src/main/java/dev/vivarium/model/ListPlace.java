package dev.vivarium.model;

import java.time.Instant;
import java.util.Comparator;

/// Position of an entry in a list, newest first, and cursor of a page. Immutable.
///
/// @param millis time of the entry, in milliseconds since 1970
/// @param id     id of the entry, which orders entries of the same time
public record ListPlace(long millis, String id) implements Comparable<ListPlace> {
    private static final Comparator<ListPlace> ORDER =
            Comparator.comparingLong(ListPlace::millis).thenComparing(ListPlace::id);

    public static ListPlace of(Instant at, String id) {
        return new ListPlace(at.toEpochMilli(), id);
    }

    /// Returns the position of a cursor from a request. Fails with `InvalidRequest`.
    public static ListPlace of(String cursor) {
        int dash = cursor.indexOf('-');
        try {
            return new ListPlace(Long.parseLong(cursor.substring(0, Math.max(0, dash))), cursor.substring(dash + 1));
        } catch (NumberFormatException e) {
            throw new SandboxException(
                    new Failure.InvalidRequest("cursor", "must be the next_cursor of a page before"), e);
        }
    }

    public String cursor() {
        return millis + "-" + id;
    }

    /// Older entries come first.
    @Override
    public int compareTo(ListPlace other) {
        return ORDER.compare(this, other);
    }
}
