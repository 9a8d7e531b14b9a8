package dev.vivarium.server.api;

import dev.vivarium.core.log.LiveFeed;
import dev.vivarium.model.Event;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.feed.Feed;
import dev.vivarium.server.feed.FeedFilter;
import dev.vivarium.server.http.Access;
import dev.vivarium.server.http.Exchange;
import java.io.IOException;
import java.time.Duration;

/// `GET /api/v1/events`: what happens to all sandboxes that the caller may hear of, as a stream that goes on; for those
/// who cannot use a WebSocket. Thread-safe.
public final class FeedHandler {
    /// A stream says something at least this often, so that a hang-up is noticed.
    private static final Duration BREATH = Duration.ofSeconds(5);

    private final Feed feed;

    public FeedHandler(Feed feed) {
        this.feed = feed;
    }

    public void stream(Exchange exchange) throws IOException {
        exchange.allowQuery("event_types", "entity_types", "entity_ids");
        FeedFilter filter = FeedFilter.of(exchange);
        Feed.Subscription events = feed.open(exchange.principal());
        var format = EventStream.Format.accepted(exchange).orElse(EventStream.Format.EVENT_STREAM);
        var access = exchange.access();
        try (var stream = EventStream.begin(exchange, format)) {
            stream.send("connected", filter::write);
            try {
                while (true) {
                    send(stream, events, events.next(Access.CHECK_EVERY, () -> filter), access);
                }
            } catch (SandboxException e) {
                stream.fail(e.failure());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void send(EventStream stream, Feed.Subscription events, LiveFeed.Heard heard, Access access)
            throws IOException {
        access.check();
        if (Feed.isAny(heard.missed())) {
            stream.send("missed", out -> Feed.write(out, heard.missed()));
        }
        for (Event event : heard.events()) {
            // Whoever reads slowly may have lost the right to the rest.
            access.check();
            stream.send("event", out -> events.write(out, event));
        }
        stream.breatheAfter(BREATH);
    }
}
