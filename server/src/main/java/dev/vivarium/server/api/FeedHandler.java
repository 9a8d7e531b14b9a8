package dev.vivarium.server.api;

import dev.vivarium.model.Event;
import dev.vivarium.server.feed.Feed;
import dev.vivarium.server.feed.Filter;
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
        Filter filter = Filter.of(exchange);
        Feed.Ear ear = feed.open(exchange.principal());
        var format = EventStream.Format.accepted(exchange).orElse(EventStream.Format.EVENT_STREAM);
        try (var stream = EventStream.begin(exchange, format)) {
            stream.send("connected", filter::write);
            long said = System.nanoTime();
            while (true) {
                var heard = ear.next(BREATH, () -> filter);
                if (Feed.isAny(heard.missed())) {
                    stream.send("missed", out -> Feed.write(out, heard.missed()));
                }
                for (Event event : heard.events()) {
                    stream.send("event", out -> ear.write(out, event));
                }
                if (!heard.events().isEmpty()) {
                    said = System.nanoTime();
                } else if (System.nanoTime() - said >= BREATH.toNanos()) {
                    stream.breathe();
                    said = System.nanoTime();
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
