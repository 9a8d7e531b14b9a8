package dev.vivarium.server.api;

import dev.vivarium.core.access.Principal;
import dev.vivarium.core.access.WorkerGrant;
import dev.vivarium.core.lifecycle.EventFollower;
import dev.vivarium.core.log.AppendResult;
import dev.vivarium.core.log.Batch;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.log.Query;
import dev.vivarium.core.run.Inbox;
import dev.vivarium.core.run.RunEvents;
import dev.vivarium.model.Event;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.server.feed.VisibleEvent;
import dev.vivarium.server.http.Access;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.Presence;
import dev.vivarium.server.operation.EventSize;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Optional;
import tools.jackson.core.JsonGenerator;

/// `GET` and `POST /api/v1/sandboxes/{sandbox_id}/events`: what happened to a sandbox, in order, as pages or as a
/// stream that goes on; and what somebody adds. Thread-safe.
public final class EventsHandler {
    /// What one call may add: it counts as one, and a talkative agent is not slowed down.
    private static final int MOST_AT_ONCE = 100;

    private static final String LAST_EVENT = "Last-Event-ID";

    private final EventLog log;
    private final Inbox inbox;
    private final RunEvents runEvents;
    private final Presence presence;
    private final InstantSource clock;
    private final Duration breath;

    /// @param breath a stream says something at least this often, so that a hang-up is noticed
    public EventsHandler(
            EventLog log, Inbox inbox, RunEvents runEvents, Presence presence, InstantSource clock, Duration breath) {
        this.log = log;
        this.inbox = inbox;
        this.runEvents = runEvents;
        this.presence = presence;
        this.clock = clock;
        this.breath = breath;
    }

    public void list(Exchange exchange) throws IOException {
        exchange.allowQuery("limit", "since", "after_seq", "before_seq", "newest", "type");
        var sandbox = new SandboxId(exchange.path("sandbox_id"));
        var query = new Query(
                afterSeq(exchange),
                since(exchange),
                exchange.optionalQuery("type"),
                PageQuery.limit(exchange, Query.MOST));
        Optional<Long> before = beforeSeq(exchange);
        Optional<EventStream.Format> format = EventStream.Format.accepted(exchange);
        if (format.isPresent()) {
            before.ifPresent(_ -> {
                throw new SandboxException(
                        new Failure.InvalidRequest("before_seq", "is for pages; a stream begins after_seq"));
            });
            if (exchange.header(LAST_EVENT).isPresent()) {
                log.requireKnown(sandbox, query.afterSeq(), LAST_EVENT);
            }
            followed(exchange, format.get(), sandbox, query);
        } else {
            page(exchange, sandbox, query, before);
        }
    }

    /// The ends of the log are looked at first: whoever goes on from there then misses nothing.
    private void page(Exchange exchange, SandboxId sandbox, Query query, Optional<Long> before) throws IOException {
        long head = log.head(sandbox);
        long first = log.first(sandbox);
        List<Event> events =
                before.map(seq -> log.readBefore(sandbox, query, seq)).orElseGet(() -> log.read(sandbox, query));
        exchange.reserve(EventSize.of(events));
        exchange.answer(200, out -> {
            out.writeArrayPropertyStart("events");
            for (Event event : events) {
                out.writeStartObject();
                VisibleEvent.of(event, exchange.scopes()).write(out);
                out.writeEndObject();
            }
            out.writeEndArray();
            out.writeNumberProperty(
                    "next_after_seq",
                    events.isEmpty() ? query.afterSeq() : events.getLast().seq());
            out.writeNumberProperty("first_seq", first);
            out.writeNumberProperty("head_seq", head);
        });
    }

    /// While it lasts, others see that somebody follows.
    private void followed(Exchange exchange, EventStream.Format format, SandboxId sandbox, Query query)
            throws IOException {
        var seen = Presence.Connection.of(sandbox, exchange.principal(), Presence.Way.EVENTS, clock.instant());
        Presence.Guest guest = () -> Optional.of(seen);
        presence.enter(guest);
        try {
            stream(exchange, format, sandbox, query);
        } finally {
            presence.leave(guest);
        }
    }

    /// What is kept, and then what comes, until the caller hangs up or may no longer read it, or the sandbox has
    /// ended. `limit` does not end it.
    private void stream(Exchange exchange, EventStream.Format format, SandboxId sandbox, Query query)
            throws IOException {
        var access = exchange.access();
        boolean isAlive = exchange.findSandbox().isPresent();
        try (var eventFollower = new EventFollower(log, sandbox, query.afterSeq(), isAlive);
                var stream = EventStream.begin(exchange, format)) {
            stream.stand();
            try {
                while (!eventFollower.isOver()) {
                    send(stream, query, eventFollower.next(Access.CHECK_EVERY), access);
                }
            } catch (SandboxException e) {
                stream.fail(e.failure());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void send(EventStream stream, Query query, Batch batch, Access access) throws IOException {
        access.check();
        if (batch.missed() > 0) {
            stream.send("missed", out -> out.writeNumberProperty("missed", batch.missed()));
        }
        for (Event event : batch.events()) {
            // Whoever reads slowly may have lost the right to the rest.
            access.check();
            if (query.includes(event)) {
                stream.send("event", Long.toString(event.seq()), VisibleEvent.of(event, access.scopes())::write);
            }
        }
        stream.breatheAfter(breath);
    }

    public void append(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var sent = exchange.jsonObjects();
        if (sent.all().isEmpty() || sent.all().size() > MOST_AT_ONCE) {
            throw new SandboxException(
                    new Failure.InvalidRequest("body", "must hold 1 to " + MOST_AT_ONCE + " events"));
        }
        // All are looked at before the first is kept.
        var sandbox = new SandboxId(exchange.path("sandbox_id"));
        List<AppendResult> appended;
        if (exchange.principal() instanceof Principal.Worker(WorkerGrant grant)) {
            appended = runEvents.append(
                    sandbox,
                    grant.task(),
                    sent.all().stream().map(SubmittedEvent::ofWorker).toList());
        } else {
            appended = append(
                    sandbox,
                    sent.all().stream()
                            .map(fields -> SubmittedEvent.ofPerson(fields, sandbox))
                            .toList());
        }
        int status = appended.stream().anyMatch(AppendResult::isNew) ? 201 : 200;
        exchange.answer(status, out -> {
            if (!sent.isList()) {
                write(out, appended.getFirst());
                return;
            }
            out.writeArrayPropertyStart("events");
            for (AppendResult one : appended) {
                out.writeStartObject();
                write(out, one);
                out.writeEndObject();
            }
            out.writeEndArray();
        });
    }

    /// What a person says to the agent as an event reaches it as a message; the rest is kept as it is.
    private List<AppendResult> append(SandboxId sandbox, List<SubmittedEvent> sent) {
        if (sent.stream().allMatch(one -> one.message().isEmpty())) {
            return log.append(sandbox, sent.stream().map(SubmittedEvent::event).toList());
        }
        return sent.stream()
                .map(one -> one.message()
                        .map(said -> inbox.post(sandbox, said, one.event()))
                        .orElseGet(() -> log.append(sandbox, one.event())))
                .toList();
    }

    private static void write(JsonGenerator out, AppendResult appended) {
        out.writeStringProperty("event_id", appended.event().id());
        out.writeNumberProperty("seq", appended.event().seq());
        out.writeStringProperty("status", "ok");
    }

    /// A browser that comes back says where it was in a header of its own.
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

    /// Before which event a page ends, if it is to end there; the newest page ends before none.
    private static Optional<Long> beforeSeq(Exchange exchange) {
        Optional<Long> before = PageQuery.number(exchange, "before_seq");
        if (before.filter(seq -> seq < 1).isPresent()) {
            throw new SandboxException(new Failure.InvalidRequest("before_seq", "must be the number of an event"));
        }
        boolean isNewest = QueryFlags.of(exchange, "newest", false);
        return before.or(() -> isNewest ? Optional.of(Long.MAX_VALUE) : Optional.empty());
    }

    private static Optional<Instant> since(Exchange exchange) {
        try {
            return exchange.optionalQuery("since").map(Instant::parse);
        } catch (DateTimeParseException e) {
            throw new SandboxException(
                    new Failure.InvalidRequest("since", "must be a moment such as 2026-01-01T10:00:00Z"), e);
        }
    }
}
