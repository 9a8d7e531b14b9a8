package dev.vivarium.server.api;

import dev.vivarium.core.access.Principal;
import dev.vivarium.core.access.WorkerGrant;
import dev.vivarium.core.run.Delivery;
import dev.vivarium.core.run.Inbox;
import dev.vivarium.core.run.Runs;
import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Message;
import dev.vivarium.model.Message.Kind;
import dev.vivarium.model.Message.Mode;
import dev.vivarium.model.NewMessage;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.server.http.Access;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.operation.SendMessage;
import dev.vivarium.server.operation.SendMessage.Priority;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import tools.jackson.core.JsonGenerator;

/// `POST` and `GET /api/v1/sandboxes/{sandbox_id}/messages`, and `POST …/interventions`: sends messages to an
/// agent and delivers them to its worker. Thread-safe.
public final class MessagesHandler {
    private final SendMessage messages;
    private final Inbox inbox;
    private final Runs runs;
    private final Duration breath;

    /// @param breath the interval of keep-alives in a stream, by which the server notices a closed connection
    public MessagesHandler(SendMessage messages, Inbox inbox, Runs runs, Duration breath) {
        this.messages = messages;
        this.inbox = inbox;
        this.runs = runs;
        this.breath = breath;
    }

    public void post(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var queued = messages.send(exchange.sandbox().id(), message(exchange.json()));
        exchange.answer(202, out -> {
            out.writeStringProperty("message_id", queued.message().id());
            out.writeStringProperty("status", "queued");
            out.writeNumberProperty("queue_size", queued.waiting());
            out.writeBooleanProperty("listening", queued.listening());
        });
    }

    private static NewMessage message(JsonFields fields) {
        var kind = fields.optionalString("message_type").orElse(Kind.USER_MESSAGE.text());
        var message = new NewMessage(
                fields.string("content"),
                Kind.find(kind)
                        .orElseThrow(() -> refused(
                                "message_type",
                                "must be user_message, interrupt, " + "guardian_nudge, system or guidance")),
                fields.optionalString("source").orElse("user"));
        fields.refuseOthers();
        return message;
    }

    public void intervene(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var intervention = intervention(exchange.json());
        var queued = messages.send(exchange.sandbox().id(), intervention);
        exchange.answer(202, out -> {
            out.writeStringProperty("id", queued.message().id());
            out.writeStringProperty("status", "queued");
            out.writeStringProperty("inject_mode", intervention.mode().text());
            out.writeNumberProperty(
                    "estimated_delivery_ms", queued.usualLatency().toMillis());
            out.writeBooleanProperty("listening", queued.listening());
        });
    }

    private static NewMessage intervention(JsonFields fields) {
        var mode = Mode.find(choice(fields, "inject_mode", List.of("immediate", "next_turn")))
                .orElseThrow();
        var priority = choice(fields, "priority", List.of("normal", "low", "high", "urgent"));
        var source = fields.optionalString("source").orElse("user");
        String text = fields.string("message");
        fields.refuseOthers();
        try {
            return SendMessage.intervention(text, mode, Priority.of(priority), source);
        } catch (SandboxException e) {
            if (e.failure() instanceof Failure.InvalidRequest(String field, String rule) && field.equals("content")) {
                // This route has another name for the field.
                throw refused("message", rule);
            }
            throw e;
        }
    }

    /// The value of a field that takes one of `words`. The first is the default.
    private static String choice(JsonFields fields, String name, List<String> words) {
        String word = fields.optionalString(name).orElse(words.getFirst());
        if (!words.contains(word)) {
            throw refused(name, "must be one of " + String.join(", ", words));
        }
        return word;
    }

    /// Delivers queued messages, in one response or as a stream. If the connection is closed before delivery, the
    /// messages stay queued. A worker that sends `ack` receives every message again until it acknowledges it.
    public void take(Exchange exchange) throws IOException {
        Runnable mayHear = reader(exchange);
        mayHear.run();
        Optional<EventStream.Format> format = EventStream.Format.accepted(exchange);
        Duration patience = PageQuery.wait(exchange);
        if (format.isPresent() && exchange.optionalQuery("wait").isPresent()) {
            throw refused("wait", "is for a single answer; a stream waits as long as it stands");
        }
        try {
            Delivery delivery = delivery(exchange);
            if (format.isPresent()) {
                new MessageStream(exchange, delivery, mayHear, breath).run(format.get());
            } else {
                answer(exchange, delivery, mayHear, patience);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SandboxException(new Failure.ShuttingDown(), e);
        }
    }

    /// A check that the caller may read the messages. It fails for the worker of an earlier run, which must not
    /// take the messages of the next one.
    private Runnable reader(Exchange exchange) {
        if (exchange.principal() instanceof Principal.Worker(WorkerGrant grant)) {
            exchange.allowQuery("wait", "ack");
            return () -> {
                if (runs.isAnothers(grant.sandbox(), grant.task())) {
                    var _ = runs.requireActive(grant.sandbox(), grant.task());
                }
            };
        }
        exchange.allowQuery("wait");
        return () -> {};
    }

    private Delivery delivery(Exchange exchange) {
        SandboxId sandbox = exchange.sandbox().id();
        Optional<String> ack = exchange.optionalQuery("ack");
        ack.filter(ids -> !ids.isEmpty())
                .ifPresent(ids -> inbox.acknowledge(sandbox, new HashSet<>(List.of(ids.split(",")))));
        return ack.isPresent() ? inbox.offering(sandbox) : inbox.taking(sandbox);
    }

    private static void answer(Exchange exchange, Delivery delivery, Runnable mayHear, Duration patience)
            throws IOException, InterruptedException {
        Access access = exchange.access();
        List<Message> messages = access.await(patience, delivery::next, found -> !found.isEmpty());
        int passed = 0;
        try {
            if (!messages.isEmpty()) {
                access.checkNow();
            }
            // Another run may have started during the wait.
            mayHear.run();
            exchange.answer(200, "application/json", list(messages));
            passed = messages.size();
        } finally {
            delivery.passed(messages, passed);
        }
    }

    private static byte[] list(List<Message> messages) {
        var out = new ByteArrayOutputStream();
        out.write('[');
        for (Message message : messages) {
            if (out.size() > 1) {
                out.write(',');
            }
            Json.write(out, json -> write(json, message));
        }
        out.write(']');
        return out.toByteArray();
    }

    static void write(JsonGenerator out, Message message) {
        out.writeStringProperty("message_id", message.id());
        out.writeStringProperty("content", message.content());
        out.writeStringProperty("message_type", message.kind().text());
        out.writeStringProperty("source", message.source());
        Json.time(out, "timestamp", message.at());
        out.writeStringProperty("inject_mode", message.mode().text());
    }

    private static SandboxException refused(String field, String rule) {
        return new SandboxException(new Failure.InvalidRequest(field, rule));
    }
}
