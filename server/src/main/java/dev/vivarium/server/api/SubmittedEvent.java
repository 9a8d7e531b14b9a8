package dev.vivarium.server.api;

import static dev.vivarium.model.Failure.InvalidRequest.require;

import dev.vivarium.core.run.Inbox;
import dev.vivarium.json.EventJson;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Message;
import dev.vivarium.model.MessageEvent;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.NewMessage;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.TextEnum;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;

/// Event that a worker or a user appends to a log. Only the server may use the server's own source. Immutable.
///
/// @param message message to the agent, if the event posts one
record SubmittedEvent(NewEvent event, Optional<NewMessage> message) {
    /// Prefixes of the types that workers must not append.
    private static final List<String> RESERVED_PREFIXES =
            List.of("user.", "guardian.", "sandbox.", "command.", "file.", "git.", "agent.model_call");

    private static final List<String> RESERVED_SOURCES = List.of(NewEvent.OURS, NewEvent.KERNEL);

    /// Types that only the routes of reviews append.
    private static final List<String> REVIEW_ANSWERS = List.of("user.approve", "user.reject");

    static NewEvent ofWorker(JsonFields fields) {
        return withPosition(fields, at -> {
            NewEvent event = read(at, "agent");
            requireWorkerEvent(event);
            return event;
        });
    }

    private static void requireWorkerEvent(NewEvent event) {
        require(
                RESERVED_PREFIXES.stream().noneMatch(event.type()::startsWith),
                "event_type",
                "must not begin with " + String.join(", ", RESERVED_PREFIXES) + " when a worker sends it");
        require(
                event.source().equals("agent") || event.source().equals("worker"),
                "source",
                "must be agent or worker when a worker sends it");
    }

    static SubmittedEvent ofPerson(JsonFields fields, SandboxId sandbox) {
        return withPosition(fields, at -> {
            NewEvent event = read(at, "user");
            require(
                    !RESERVED_SOURCES.contains(event.source()),
                    "source",
                    "must not be '" + event.source() + "': only the server uses this source");
            require(
                    !REVIEW_ANSWERS.contains(event.type()),
                    "event_type",
                    "must not be " + event.type() + ": answer a review by POST …/reviews/{review_id}");
            Optional<Message.Kind> messageKind = MessageEvent.kindOf(event.type());
            require(
                    messageKind.filter(Message.Kind.SYSTEM::equals).isEmpty(),
                    "event_type",
                    "must not be " + event.type() + ": say it by POST …/messages with message_type system");
            return messageKind
                    .map(kind -> ofMessage(at, event, kind, sandbox))
                    .orElseGet(() -> new SubmittedEvent(event, Optional.empty()));
        });
    }

    private static NewEvent read(JsonFields fields, String source) {
        NewEvent event = EventJson.read(fields, source);
        require(
                event.id().filter(id -> id.startsWith(NewEvent.OUR_IDS)).isEmpty(),
                "event_id",
                "must not begin with '" + NewEvent.OUR_IDS + "': only the server's own do");
        return event;
    }

    /// Adds the id of the message to the event, so that clients can match the event with its delivery.
    private static SubmittedEvent ofMessage(JsonFields fields, NewEvent event, Message.Kind kind, SandboxId sandbox) {
        String id = event.id().orElseGet(() -> "said." + UUID.randomUUID());
        JsonFields data = fields.optionalObject("event_data").orElseThrow(() -> invalidContent("is required", event));
        NewMessage message = message(data, event, kind);
        String text = data.with("message_id", Inbox.idOf(sandbox, id))
                .with("content", message.content())
                .with("inject_mode", message.mode().text())
                .text();
        return new SubmittedEvent(
                new NewEvent(Optional.of(id), event.type(), text, event.source()), Optional.of(message));
    }

    private static NewMessage message(JsonFields data, NewEvent event, Message.Kind kind) {
        String content = data.string("content");
        var mode = TextEnum.find(
                        Message.Mode.class, data.optionalString("inject_mode").orElse(Message.Mode.IMMEDIATE.text()))
                .orElseThrow(
                        () -> SandboxException.invalid("event_data.inject_mode", "must be immediate or next_turn"));
        try {
            return new NewMessage(content, kind, mode, event.source());
        } catch (SandboxException e) {
            if (e.failure() instanceof Failure.InvalidRequest(String field, String rule) && field.equals("content")) {
                throw invalidContent(rule, event);
            }
            throw e;
        }
    }

    private static SandboxException invalidContent(String rule, NewEvent event) {
        return SandboxException.invalid(
                "event_data.content", rule + ": an event " + event.type() + " is said to the agent");
    }

    /// Adds the position in the request to the field of an error.
    private static <T> T withPosition(JsonFields fields, Function<JsonFields, T> read) {
        try {
            return read.apply(fields);
        } catch (SandboxException e) {
            if (e.failure() instanceof Failure.InvalidRequest(String field, String rule)
                    && !field.startsWith(fields.place())) {
                throw new SandboxException(new Failure.InvalidRequest(fields.place() + field, rule), e);
            }
            throw e;
        }
    }
}
