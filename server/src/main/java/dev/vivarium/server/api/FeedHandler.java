package dev.vivarium.server.api;

import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.server.http.Route.Access.KEY;

import dev.vivarium.core.log.LiveFeed;
import dev.vivarium.model.Event;
import dev.vivarium.server.feed.Feed;
import dev.vivarium.server.feed.FeedFilter;
import dev.vivarium.server.http.Access;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import java.io.IOException;
import java.time.Duration;

/// `GET /api/v1/events`: events of all sandboxes that the caller may see, as a stream, for clients without WebSocket.
/// Thread-safe.
public final class FeedHandler {
    public static final RouteDescription STREAM = RouteDescription.get("/api/v1/events", KEY)
            .named("listenToEvents", "Follow the events of all sandboxes as a stream")
            .text("""
                    For clients without WebSocket. An admin receives the events of all sandboxes, a user the \
                    events of their own sandboxes. The stream does not end. `Accept: application/x-ndjson` \
                    selects lines instead of server-sent events. The feed has no history: the event `missed` \
                    tells a slow reader which events to read from the logs of the sandboxes. \
                    docs/reference/events.md describes the events.""")
            .query("event_types", STRING, "Event types, separated by commas. A type that ends with a dot is a prefix.")
            .query("entity_types", STRING, "Entity types, separated by commas: `sandbox`, `thread`, `task`, `run`.")
            .query("entity_ids", STRING, "Ids, separated by commas.")
            .answers(200, "The stream.", "text/event-stream", STRING)
            .also("application/x-ndjson", STRING);

    /// Interval of keep-alives, by which the server detects a closed connection.
    private static final Duration KEEP_ALIVE = Duration.ofSeconds(5);

    private final Feed feed;

    public FeedHandler(Feed feed) {
        this.feed = feed;
    }

    public void stream(Exchange exchange) throws IOException {
        FeedFilter filter = FeedFilter.of(exchange);
        Feed.Subscription events = feed.open(exchange.principal());
        var format = EventStream.Format.accepted(exchange).orElse(EventStream.Format.EVENT_STREAM);
        var access = exchange.access();
        EventStream.send(exchange, format, stream -> {
            stream.send("connected", filter::write);
            while (true) {
                send(stream, events, events.next(Access.CHECK_EVERY, () -> filter), access);
            }
        });
    }

    private static void send(EventStream stream, Feed.Subscription events, LiveFeed.FeedPage batch, Access access)
            throws IOException {
        access.check();
        if (Feed.isAny(batch.missed())) {
            stream.send("missed", out -> Feed.write(out, batch.missed()));
        }
        for (Event event : batch.events()) {
            // A slow reader may have lost access since the batch was read.
            access.check();
            stream.send("event", out -> events.write(out, event));
        }
        stream.keepAliveAfter(KEEP_ALIVE);
    }
}
