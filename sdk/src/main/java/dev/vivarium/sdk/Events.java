package dev.vivarium.sdk;

import dev.vivarium.sdk.http.Transport;

/// Event logs of sandboxes. Thread-safe.
public final class Events {
    private final Transport transport;

    Events(Transport transport) {
        this.transport = transport;
    }

    /// Selection of events: those after `after` whose type is `type`. A type that ends with a dot is a prefix; an
    /// empty type selects all events. Immutable.
    public record Filter(String type, long after) {
        /// The whole log.
        public static final Filter ALL = new Filter("", 0);
    }

    /// The events that the log has now.
    public EventStream stored(String sandbox, Filter filter) {
        return new StoredEvents(transport, path(sandbox, filter), filter.after());
    }

    /// The events that the log has now and all later ones. The stream never ends. It reconnects after a connection
    /// breaks or the server restarts, and skips no event.
    public EventStream follow(String sandbox, Filter filter) {
        return new FollowedEvents(transport, path(sandbox, filter), filter.after());
    }

    private static String path(String sandbox, Filter filter) {
        String type = filter.type().isEmpty() ? "" : "type=" + Transport.segment(filter.type()) + "&";
        return Runs.path(sandbox) + "/events?" + type;
    }
}
