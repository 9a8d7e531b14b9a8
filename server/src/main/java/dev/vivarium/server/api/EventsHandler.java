package dev.vivarium.server.api;

import static dev.vivarium.json.JsonType.BOOLEAN;
import static dev.vivarium.json.JsonType.INT;
import static dev.vivarium.json.JsonType.LONG;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.JsonType.TIME;
import static dev.vivarium.json.ObjectType.constant;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.model.Failure.InvalidRequest.require;
import static dev.vivarium.server.http.Route.Access.inside;
import static dev.vivarium.server.http.Route.Access.kept;

import dev.vivarium.core.access.Principal;
import dev.vivarium.core.access.Scope;
import dev.vivarium.core.access.WorkerGrant;
import dev.vivarium.core.lifecycle.EventFollower;
import dev.vivarium.core.log.AppendResult;
import dev.vivarium.core.log.Batch;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.log.Query;
import dev.vivarium.core.run.Inbox;
import dev.vivarium.json.EventJson;
import dev.vivarium.json.JsonType;
import dev.vivarium.json.ObjectType;
import dev.vivarium.model.Event;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.server.feed.VisibleEvent;
import dev.vivarium.server.http.Access;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.Presence;
import dev.vivarium.server.http.RouteDescription;
import dev.vivarium.server.operation.EventSize;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/// `GET` and `POST /api/v1/sandboxes/{sandbox_id}/events`: reads the event log of a sandbox as pages or as
/// a stream, and appends events. Thread-safe.
public final class EventsHandler {
    private static final ObjectType<Page> EVENTS = object(
            "Events",
            field("events", JsonType.list(VisibleEvent.EVENT), Page::events),
            field("next_after_seq", LONG, Page::next),
            field("first_seq", LONG, "The oldest stored event. 0 if the log is empty.", Page::first),
            field("head_seq", LONG, "The newest event before the page was read. 0 if the log is empty.", Page::head));
    private static final ObjectType<AppendResult> ADDED = object(
            "EventAdded",
            field("event_id", STRING, appended -> appended.event().id()),
            field("seq", LONG, appended -> appended.event().seq()),
            constant("status", "ok"));
    private static final ObjectType<List<AppendResult>> ALL_ADDED =
            object("EventsAdded", field("events", JsonType.list(ADDED), Function.identity()));

    private record Page(List<VisibleEvent> events, long next, long first, long head) {}

    public static final RouteDescription LIST = RouteDescription.get(
                    "/api/v1/sandboxes/{sandbox_id}/events", kept(Scope.SHELL_RO))
            .named("listEvents", "Read the event log of a sandbox")
            .text("""
                    Events contain file content only if the caller has the scope `fs:ro`. Otherwise an event \
                    names what it omits. The log of an ended sandbox is for its owner. With `Accept: \
                    text/event-stream` or `application/x-ndjson` the response is a stream: stored events, then \
                    new events, without gaps or duplicates. `Last-Event-ID` has the same effect as `after_seq`.""")
            .query("after_seq", INT.with("minimum", 0).with("default", 0), """
                    The last event that the caller has. If it is past the end of the log, the server rejects a \
                    stream.""")
            .query(
                    "before_seq",
                    INT.with("minimum", 1),
                    "Returns the page that ends before this event, oldest first. Not for streams.")
            .query("newest", BOOLEAN.with("default", false), """
                    Returns the last page of the log, oldest first. Use `before_seq` for earlier pages.""")
            .query("since", TIME, "Only events from this time on.")
            .query("type", STRING, "An event type, or a prefix that ends with a dot.")
            .query("event_type", STRING, "The same as `type`.")
            .query("limit", PageQuery.LIMIT, "Maximum number of events. A stream has no limit.")
            .answers(200, "Oldest first.", EVENTS)
            .orStreams(STRING);

    public static final RouteDescription APPEND = RouteDescription.post(
                    "/api/v1/sandboxes/{sandbox_id}/events", inside(Scope.PROCESS))
            .named("appendEvent", "Append events to the log of a sandbox")
            .text("""
                    The server responds after the events are durable. An event with an existing `event_id` is \
                    not appended again. A list of at most 100 events, as an array or as one object per line, \
                    counts as one call: the server validates all of them first and responds with a list. If a \
                    person sends `user.message`, `user.interrupt`, `user.guidance` or `guardian.intervention`, \
                    the server delivers it to the agent. Its `event_data` has `content` and may have \
                    `inject_mode`.""")
            .takesLines(
                    JsonType.oneOf(
                            EventJson.NEW_EVENT,
                            JsonType.list(EventJson.NEW_EVENT)
                                    .with("minItems", 1)
                                    .with("maxItems", 100)),
                    EventJson.NEW_EVENT)
            .answers(
                    200,
                    "The event already exists. The response is the first one again.",
                    JsonType.oneOf(ADDED, ALL_ADDED))
            .answers(201, "The event was appended.", JsonType.oneOf(ADDED, ALL_ADDED))
            .fails(422, 507);

    /// Maximum number of events in one call. A call counts once against the rate limit, regardless of the number of
    /// events.
    private static final int MAX_EVENTS = 100;

    private static final String LAST_EVENT = "Last-Event-ID";

    private final EventLog log;
    private final Inbox inbox;
    private final WorkerEvents workerEvents;
    private final Presence presence;
    private final InstantSource clock;
    private final Duration keepAlive;

    /// @param keepAlive interval of keep-alives in a stream, by which the server detects a closed connection
    public EventsHandler(
            EventLog log,
            Inbox inbox,
            WorkerEvents workerEvents,
            Presence presence,
            InstantSource clock,
            Duration keepAlive) {
        this.log = log;
        this.inbox = inbox;
        this.workerEvents = workerEvents;
        this.presence = presence;
        this.clock = clock;
        this.keepAlive = keepAlive;
    }

    public void list(Exchange exchange) throws IOException {
        var sandbox = new SandboxId(exchange.path("sandbox_id"));
        var query = new Query(
                afterSeq(exchange),
                exchange.optionalQuery("since", TIME),
                exchange.optionalQuery("type").or(() -> exchange.optionalQuery("event_type")),
                PageQuery.limit(exchange, Query.MOST));
        Optional<Long> before = beforeSeq(exchange);
        Optional<EventStream.Format> format = EventStream.Format.accepted(exchange);
        if (format.isPresent()) {
            before.ifPresent(_ -> {
                throw SandboxException.invalid("before_seq", "is for pages; a stream begins after_seq");
            });
            if (exchange.header(LAST_EVENT).isPresent()) {
                log.requireKnown(sandbox, query.afterSeq(), LAST_EVENT);
            }
            followed(exchange, format.get(), sandbox, query);
        } else {
            page(exchange, sandbox, query, before);
        }
    }

    /// Reads the ends of the log first, so that a client that continues from there misses no event.
    private void page(Exchange exchange, SandboxId sandbox, Query query, Optional<Long> before) throws IOException {
        long head = log.head(sandbox);
        long first = log.first(sandbox);
        List<Event> events =
                before.map(seq -> log.readBefore(sandbox, query, seq)).orElseGet(() -> log.read(sandbox, query));
        exchange.reserve(EventSize.of(events));
        var visible = events.stream()
                .map(event -> VisibleEvent.of(event, exchange.scopes()))
                .toList();
        long next = events.isEmpty() ? query.afterSeq() : events.getLast().seq();
        exchange.answer(200, EVENTS, new Page(visible, next, first, head));
    }

    /// Registers the client in [Presence] for the duration of the stream.
    private void followed(Exchange exchange, EventStream.Format format, SandboxId sandbox, Query query)
            throws IOException {
        var seen = Presence.Connection.of(sandbox, exchange.principal(), Presence.Purpose.EVENTS, clock.instant());
        Presence.Client client = () -> Optional.of(seen);
        presence.enter(client);
        try {
            stream(exchange, format, sandbox, query);
        } finally {
            presence.leave(client);
        }
    }

    /// Sends stored events, then new events, until the client disconnects, loses access, or the sandbox has ended.
    /// `limit` does not apply.
    private void stream(Exchange exchange, EventStream.Format format, SandboxId sandbox, Query query)
            throws IOException {
        var access = exchange.access();
        boolean isAlive = exchange.findSandbox().isPresent();
        try (var eventFollower = new EventFollower(log, sandbox, query.afterSeq(), isAlive)) {
            EventStream.send(exchange, format, stream -> {
                while (!eventFollower.isOver()) {
                    send(stream, query, eventFollower.next(Access.CHECK_EVERY), access);
                }
            });
        }
    }

    private void send(EventStream stream, Query query, Batch batch, Access access) throws IOException {
        access.check();
        if (batch.missed() > 0) {
            stream.send("missed", out -> out.writeNumberProperty("missed", batch.missed()));
        }
        for (Event event : batch.events()) {
            // A slow reader may have lost access since the batch was read.
            access.check();
            if (query.includes(event)) {
                stream.send("event", Long.toString(event.seq()), VisibleEvent.of(event, access.scopes())::write);
            }
        }
        stream.keepAliveAfter(keepAlive);
    }

    public void append(Exchange exchange) throws IOException {
        var sent = exchange.jsonObjects();
        require(
                !sent.all().isEmpty() && sent.all().size() <= MAX_EVENTS,
                "body",
                "must hold 1 to " + MAX_EVENTS + " events");
        // All events are validated before the first is appended.
        var sandbox = new SandboxId(exchange.path("sandbox_id"));
        List<AppendResult> appended;
        if (exchange.principal() instanceof Principal.Worker(WorkerGrant grant)) {
            appended = workerEvents.append(sandbox, grant.task(), sent.all());
        } else {
            appended = append(
                    sandbox,
                    sent.all().stream()
                            .map(fields -> SubmittedEvent.ofPerson(fields, sandbox))
                            .toList());
        }
        int status = appended.stream().anyMatch(AppendResult::isNew) ? 201 : 200;
        if (sent.isList()) {
            exchange.answer(status, ALL_ADDED, appended);
        } else {
            exchange.answer(status, ADDED, appended.getFirst());
        }
    }

    /// Appends events. An event that is a message for the agent also enters the inbox.
    private List<AppendResult> append(SandboxId sandbox, List<SubmittedEvent> sent) {
        if (sent.stream().allMatch(one -> one.message().isEmpty())) {
            return log.append(sandbox, sent.stream().map(SubmittedEvent::event).toList());
        }
        return sent.stream()
                .map(one -> one.message()
                        .map(message -> inbox.post(sandbox, message, one.event()))
                        .orElseGet(() -> log.append(sandbox, one.event())))
                .toList();
    }

    /// A browser that reconnects sends its last event in a header.
    private static long afterSeq(Exchange exchange) {
        Optional<Long> asked = PageQuery.number(exchange, "after_seq");
        try {
            return exchange.header(LAST_EVENT)
                    .map(Long::parseLong)
                    .or(() -> asked)
                    .orElse(0L);
        } catch (NumberFormatException e) {
            throw new SandboxException(new Failure.InvalidRequest(LAST_EVENT, "must be the number of an event"), e);
        }
    }

    /// Returns the event that a page ends before, if the request sets one. The newest page has no such event.
    private static Optional<Long> beforeSeq(Exchange exchange) {
        Optional<Long> before = PageQuery.number(exchange, "before_seq");
        require(before.filter(seq -> seq < 1).isEmpty(), "before_seq", "must be the number of an event");
        boolean isNewest = QueryFlags.of(exchange, "newest", false);
        return before.or(() -> isNewest ? Optional.of(Long.MAX_VALUE) : Optional.empty());
    }
}
