package dev.vivarium.server.api;

import static dev.vivarium.json.JsonType.BOOLEAN;
import static dev.vivarium.json.JsonType.INT;
import static dev.vivarium.json.JsonType.LONG;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.JsonType.TIME;
import static dev.vivarium.json.ObjectType.constant;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.json.ObjectType.optional;
import static dev.vivarium.server.http.Route.Access.inside;
import static dev.vivarium.server.http.Route.Access.scoped;

import dev.vivarium.core.access.Principal;
import dev.vivarium.core.access.Scope;
import dev.vivarium.core.access.WorkerGrant;
import dev.vivarium.core.run.Delivery;
import dev.vivarium.core.run.Inbox;
import dev.vivarium.core.run.Runs;
import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.json.JsonType;
import dev.vivarium.json.ObjectType;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Message;
import dev.vivarium.model.Message.Kind;
import dev.vivarium.model.Message.Mode;
import dev.vivarium.model.NewMessage;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.TextEnum;
import dev.vivarium.server.http.Access;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RateLimits;
import dev.vivarium.server.http.RouteDescription;
import dev.vivarium.server.operation.SendMessage;
import dev.vivarium.server.operation.SendMessage.Priority;
import java.io.IOException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;

/// `POST` and `GET /api/v1/sandboxes/{sandbox_id}/messages`, and `POST …/interventions`: sends messages to an
/// agent and delivers them to its worker. Thread-safe.
public final class MessagesHandler {
    private static final String LISTENING =
            "Whether an agent runs in the sandbox. If not, the message waits for the next run.";
    private static final ObjectType<NewMessage> NEW_MESSAGE = ObjectType.<NewMessage>object(
                    "NewMessage",
                    field("content", STRING, "At most 10 KB. The server removes control characters."),
                    optional(
                            "message_type",
                            JsonType.constants(Kind.class, Kind::text).with("default", Kind.USER_MESSAGE.text())),
                    optional("source", STRING))
            .readBy(MessagesHandler::message)
            .closed();
    private static final ObjectType<SendMessage.Result> MESSAGE_QUEUED = object(
            "MessageQueued",
            field("message_id", STRING, queued -> queued.message().id()),
            constant("status", "queued"),
            field("queue_size", INT, SendMessage.Result::waiting),
            field("listening", BOOLEAN, LISTENING, SendMessage.Result::listening));
    private static final ObjectType<NewMessage> NEW_INTERVENTION = ObjectType.<NewMessage>object(
                    "NewIntervention",
                    field("message", STRING),
                    optional("source", STRING),
                    optional(
                            "priority",
                            STRING.with("enum", List.of("low", "normal", "high", "urgent"))
                                    .with("default", "normal")),
                    optional(
                            "inject_mode",
                            JsonType.constants(Mode.class, Mode::text).with("default", Mode.IMMEDIATE.text()),
                            "Before the next tool call of the agent, or after its current turn."))
            .readBy(MessagesHandler::intervention)
            .closed();
    private static final ObjectType<Intervention> INTERVENTION = object(
            "Intervention",
            field("id", STRING, sent -> sent.queued().message().id()),
            constant("status", "queued"),
            field("inject_mode", STRING, sent -> sent.mode().text()),
            field(
                    "estimated_delivery_ms",
                    LONG,
                    sent -> sent.queued().usualLatency().toMillis()),
            field("listening", BOOLEAN, LISTENING, sent -> sent.queued().listening()));
    static final ObjectType<Message> MESSAGE = object(
            "Message",
            field("message_id", STRING, Message::id),
            field("content", STRING, Message::content),
            field("message_type", STRING, message -> message.kind().text()),
            field("source", STRING, Message::source),
            field("timestamp", TIME, Message::at),
            field("inject_mode", JsonType.constants(Mode.class, Mode::text), Message::mode));
    private static final JsonType<List<Message>> MESSAGES =
            JsonType.list(MESSAGE).named("Messages");

    private record Intervention(SendMessage.Result queued, Mode mode) {}

    public static final RouteDescription POST = RouteDescription.post(
                    "/api/v1/sandboxes/{sandbox_id}/messages", scoped(Scope.PROCESS))
            .named("postMessage", "Send a message to the agent in a sandbox")
            .text("The server responds after the message is durable.")
            .takes(NEW_MESSAGE)
            .answers(202, "The message is queued for the agent.", MESSAGE_QUEUED)
            .fails(422, 507);

    public static final RouteDescription TAKE = RouteDescription.get(
                    "/api/v1/sandboxes/{sandbox_id}/messages", inside(Scope.PROCESS))
            .named("takeMessages", "Receive messages for the agent")
            .text("""
                    The server delivers each message once: interrupts first, then in order. If a worker sends \
                    `ack`, even an empty one, the server delivers each message until the worker acknowledges it. \
                    While an agent runs, a client outside the sandbox sees the waiting messages without taking them. \
                    With `Accept: text/event-stream` or `application/x-ndjson` the response is a stream: queued \
                    messages, then new messages, until the sandbox ends or the caller loses access.""")
            .query("wait", PageQuery.WAIT, "Seconds to wait for the first message. Not for streams.")
            .query("ack", STRING, """
                    For the worker in the sandbox: ids of the messages that it acknowledges, separated by \
                    commas. Without `ack`, delivery is the acknowledgement. A stream with `ack` delivers each \
                    message once, and again after a reconnect, until another call acknowledges it.""")
            .answers(200, """
                    All queued messages, or each message when it arrives. The last event of a stream is an \
                    `error` with the `problem` that ended it.""", MESSAGES)
            .orStreams(MESSAGE)
            .fails(409);

    public static final RouteDescription INTERVENE = RouteDescription.post(
                    "/api/v1/sandboxes/{sandbox_id}/interventions", scoped(Scope.PROCESS))
            .named("intervene", "Steer the agent in a sandbox")
            .text("""
                    The intervention reaches a running agent before its next tool call. `urgent` interrupts the \
                    agent.""")
            .takes(NEW_INTERVENTION)
            .answers(202, "The message is queued for the agent.", INTERVENTION)
            .fails(422);

    private final SendMessage messages;
    private final Inbox inbox;
    private final Runs runs;
    private final RateLimits limits;
    private final Duration keepAlive;

    /// @param keepAlive interval of keep-alives in a stream, by which the server detects a closed connection
    public MessagesHandler(SendMessage messages, Inbox inbox, Runs runs, RateLimits limits, Duration keepAlive) {
        this.messages = messages;
        this.inbox = inbox;
        this.runs = runs;
        this.limits = limits;
        this.keepAlive = keepAlive;
    }

    public void post(Exchange exchange) throws IOException {
        var queued = messages.send(exchange.sandbox().id(), exchange.json(NEW_MESSAGE));
        exchange.answer(202, MESSAGE_QUEUED, queued);
    }

    private static NewMessage message(JsonFields fields) {
        var kind = fields.optionalString("message_type").orElse(Kind.USER_MESSAGE.text());
        return new NewMessage(
                fields.string("content"),
                TextEnum.find(Kind.class, kind)
                        .orElseThrow(() -> SandboxException.invalid(
                                "message_type",
                                "must be user_message, interrupt, " + "guardian_nudge, system or guidance")),
                fields.optionalString("source").orElse("user"));
    }

    public void intervene(Exchange exchange) throws IOException {
        var intervention = exchange.json(NEW_INTERVENTION);
        var queued = messages.send(exchange.sandbox().id(), intervention);
        exchange.answer(202, INTERVENTION, new Intervention(queued, intervention.mode()));
    }

    private static NewMessage intervention(JsonFields fields) {
        var mode = TextEnum.find(Mode.class, choice(fields, "inject_mode", List.of("immediate", "next_turn")))
                .orElseThrow();
        var priority = choice(fields, "priority", List.of("normal", "low", "high", "urgent"));
        var source = fields.optionalString("source").orElse("user");
        String text = fields.string("message");
        try {
            return SendMessage.intervention(text, mode, Priority.of(priority), source);
        } catch (SandboxException e) {
            if (e.failure() instanceof Failure.InvalidRequest(String field, String rule) && field.equals("content")) {
                // This route has another name for the field.
                throw SandboxException.invalid("message", rule);
            }
            throw e;
        }
    }

    /// Returns the value of a field that takes one of `words`. The first is the default.
    private static String choice(JsonFields fields, String name, List<String> words) {
        String word = fields.optionalString(name).orElse(words.getFirst());
        if (!words.contains(word)) {
            throw SandboxException.invalid(name, "must be one of " + String.join(", ", words));
        }
        return word;
    }

    /// Delivers queued messages, in one response or as a stream. If the connection is closed before delivery, the
    /// messages stay queued. A worker that sends `ack` receives every message again until it acknowledges it.
    public void take(Exchange exchange) throws IOException {
        Runnable mayRead = reader(exchange);
        mayRead.run();
        Optional<EventStream.Format> format = EventStream.Format.accepted(exchange);
        Duration timeout = PageQuery.wait(exchange);
        if (format.isPresent() && exchange.optionalQuery("wait").isPresent()) {
            throw SandboxException.invalid("wait", "is for a single answer; a stream waits as long as it stands");
        }
        try {
            Delivery delivery = delivery(exchange);
            if (format.isPresent()) {
                new MessageStream(exchange, delivery, mayRead, keepAlive).run(format.get());
            } else {
                answer(exchange, delivery, mayRead, timeout);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SandboxException(new Failure.ShuttingDown(), e);
        }
    }

    /// Returns a check that the caller may read the messages. It fails for the worker of an earlier run, which must
    /// not take the messages of the next one.
    private Runnable reader(Exchange exchange) {
        if (exchange.principal() instanceof Principal.Worker(WorkerGrant grant)) {
            return () -> {
                if (runs.isAnothers(grant.sandbox(), grant.task())) {
                    var _ = runs.requireActive(grant.sandbox(), grant.task());
                }
            };
        }
        exchange.allowQuery("wait");
        return () -> {};
    }

    /// A client outside the sandbox does not take messages from a running agent.
    private Delivery delivery(Exchange exchange) {
        SandboxId sandbox = exchange.sandbox().id();
        if (!(exchange.principal() instanceof Principal.Worker) && runs.isAtWork(sandbox)) {
            return inbox.peeking(sandbox);
        }
        Optional<String> ack = exchange.optionalQuery("ack");
        ack.filter(ids -> !ids.isEmpty()).ifPresent(ids -> acknowledge(sandbox, ids));
        return ack.isPresent() ? inbox.offering(sandbox) : inbox.taking(sandbox);
    }

    /// A poll that acknowledges messages does not count: the worker must not wait because it received many.
    private void acknowledge(SandboxId sandbox, String ids) {
        if (inbox.acknowledge(sandbox, new HashSet<>(List.of(ids.split(",")))) > 0) {
            limits.refundPoll(sandbox);
        }
    }

    private static void answer(Exchange exchange, Delivery delivery, Runnable mayRead, Duration timeout)
            throws IOException, InterruptedException {
        Access access = exchange.access();
        List<Message> messages = access.await(timeout, delivery::next, found -> !found.isEmpty());
        int passed = 0;
        try {
            if (!messages.isEmpty()) {
                access.checkNow();
            }
            // Another run may have started during the wait.
            mayRead.run();
            exchange.answer(200, "application/json", Json.bytes(MESSAGES, messages));
            passed = messages.size();
        } finally {
            delivery.passed(messages, passed);
        }
    }
}
