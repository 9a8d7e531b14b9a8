package dev.vivarium.server.socket;

import dev.vivarium.core.access.AuditEntry.Kind;
import dev.vivarium.core.log.LiveFeed;
import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.Event;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.feed.Feed;
import dev.vivarium.server.feed.FeedFilter;
import dev.vivarium.server.http.Caller;
import dev.vivarium.server.http.Presence;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Optional;

/// Session of a client that follows the events of all sandboxes that it may see. Thread-safe.
///
/// The server does not keep the events that the client does not read in time. It reports which ones the client missed.
final class FeedSocket implements SocketSession {
    private final GuardedSocket socket;
    private final Duration heartbeat;
    private final Feed.Subscription events;
    private volatile FeedFilter filter;
    private volatile boolean closed;

    private FeedSocket(GuardedSocket socket, Duration heartbeat, Feed.Subscription events, FeedFilter filter) {
        this.socket = socket;
        this.heartbeat = heartbeat;
        this.events = events;
        this.filter = filter;
    }

    /// @param defaults filter of a client that sends none
    static Opener opener(Duration heartbeat, Feed feed, FeedFilter defaults) {
        return (socket, caller, first) -> {
            var filter = FeedFilter.read(first).orDefault(defaults);
            first.refuseOthers();
            var events = feed.open(caller.principal().orElseThrow());
            socket.audit().did(caller, Kind.USED, "listens");
            return new FeedSocket(socket, heartbeat, events, filter);
        };
    }

    @Override
    public Optional<Presence.Purpose> purpose() {
        return Optional.empty();
    }

    @Override
    public String authenticatedMessage() {
        return SocketMessages.message("connected", filter::write);
    }

    @Override
    public void run() throws InterruptedException {
        long last = System.nanoTime();
        while (!closed) {
            long due = heartbeat.toNanos() - (System.nanoTime() - last);
            if (due <= 0) {
                last = System.nanoTime();
                var now = socket.audit().now();
                socket.client().send(SocketMessages.message("ping", out -> Json.time(out, "timestamp", now)));
            } else {
                send(events.next(Duration.ofNanos(due), () -> filter));
            }
        }
    }

    private void send(LiveFeed.FeedPage batch) {
        var messages = new ArrayList<String>();
        if (Feed.isAny(batch.missed())) {
            messages.add(SocketMessages.message("missed", out -> Feed.write(out, batch.missed())));
        }
        for (Event event : batch.events()) {
            messages.add(SocketMessages.message("event", out -> events.write(out, event)));
        }
        socket.client().send(messages);
    }

    @Override
    public void receive(Caller caller, String type, JsonFields fields) {
        FeedFilter named = FeedFilter.read(fields);
        fields.refuseOthers();
        filter = switch (type) {
            case "filter" -> named;
            case "subscribe" -> filter.with(named);
            case "unsubscribe" -> filter.without(named);
            case "pong" -> filter;
            default ->
                throw SandboxException.invalid("type", "must be filter, subscribe, unsubscribe, ping, pong or auth");
        };
        if (!type.equals("pong")) {
            socket.client().send(SocketMessages.message("filter", filter::write));
        }
    }

    @Override
    public void close() {
        closed = true;
    }
}
