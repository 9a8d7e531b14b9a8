package dev.vivarium.server.api;

import dev.vivarium.core.access.Principal;
import dev.vivarium.core.run.Inbox;
import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Message;
import dev.vivarium.model.Message.Kind;
import dev.vivarium.model.NewMessage;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.server.http.Exchange;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;

/// `POST` and `GET /api/v1/sandboxes/{sandbox_id}/messages`, and `POST …/interventions`: what is said to an agent,
/// and how it hears of it. Thread-safe.
public final class MessagesHandler {
    private final Inbox inbox;

    public MessagesHandler(Inbox inbox) {
        this.inbox = inbox;
    }

    public void post(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var queued = inbox.post(exchange.sandbox().id(), message(exchange.json()));
        exchange.answer(202, out -> {
            out.writeStringProperty("message_id", queued.message().id());
            out.writeStringProperty("status", "queued");
            out.writeNumberProperty("queue_size", queued.waiting());
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
        var said = intervention(exchange.json());
        var queued = inbox.post(exchange.sandbox().id(), said.message);
        exchange.answer(202, out -> {
            out.writeStringProperty("id", queued.message().id());
            out.writeStringProperty("status", "queued");
            out.writeStringProperty("inject_mode", said.mode);
            out.writeNumberProperty(
                    "estimated_delivery_ms", inbox.usualLatency().toMillis());
        });
    }

    /// A message that is to reach the agent soon, and how.
    private record Intervention(NewMessage message, String mode) {}

    private static Intervention intervention(JsonFields fields) {
        var mode = choice(fields, "inject_mode", List.of("immediate", "next_turn"));
        var priority = choice(fields, "priority", List.of("normal", "low", "high", "urgent"));
        var source = fields.optionalString("source").orElse("user");
        var kind = priority.equals("urgent")
                ? Kind.INTERRUPT
                : source.equals("guardian") ? Kind.GUARDIAN_NUDGE : Kind.GUIDANCE;
        var message = message(fields.string("message"), kind, source);
        fields.refuseOthers();
        return new Intervention(message, mode);
    }

    /// Here the content goes by another name.
    private static NewMessage message(String text, Kind kind, String source) {
        try {
            return new NewMessage(text, kind, source);
        } catch (SandboxException e) {
            if (e.failure() instanceof Failure.InvalidRequest(String field, String rule) && field.equals("content")) {
                throw refused("message", rule);
            }
            throw e;
        }
    }

    /// One of several words; the first if none is given.
    private static String choice(JsonFields fields, String name, List<String> words) {
        String word = fields.optionalString(name).orElse(words.getFirst());
        if (!words.contains(word)) {
            throw refused(name, "must be one of " + String.join(", ", words));
        }
        return word;
    }

    /// Gives out what waits. If the caller has hung up by then, it waits on.
    public void take(Exchange exchange) throws IOException {
        if (exchange.principal() instanceof Principal.Worker) {
            offer(exchange);
            return;
        }
        exchange.allowQuery("wait");
        SandboxId sandbox = exchange.sandbox().id();
        try {
            List<Message> messages = inbox.take(sandbox, Page.wait(exchange));
            try {
                exchange.answer(200, "application/json", list(messages));
            } catch (IOException | RuntimeException e) {
                inbox.putBack(sandbox, messages);
                throw e;
            }
            inbox.delivered(sandbox, messages);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SandboxException(new Failure.ShuttingDown(), e);
        }
    }

    /// To the worker: what it does not acknowledge with its next question, it gets again.
    private void offer(Exchange exchange) throws IOException {
        exchange.allowQuery("wait", "ack");
        SandboxId sandbox = exchange.sandbox().id();
        Duration patience = Page.wait(exchange);
        exchange.optionalQuery("ack")
                .filter(ids -> !ids.isEmpty())
                .ifPresent(ids -> inbox.acknowledge(sandbox, new HashSet<>(List.of(ids.split(",")))));
        try {
            exchange.answer(200, "application/json", list(inbox.offer(sandbox, patience)));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SandboxException(new Failure.ShuttingDown(), e);
        }
    }

    private static byte[] list(List<Message> messages) {
        var out = new ByteArrayOutputStream();
        out.write('[');
        for (Message message : messages) {
            if (out.size() > 1) {
                out.write(',');
            }
            Json.write(out, json -> {
                json.writeStringProperty("message_id", message.id());
                json.writeStringProperty("content", message.content());
                json.writeStringProperty("message_type", message.kind().text());
                json.writeStringProperty("source", message.source());
                Json.time(json, "timestamp", message.at());
            });
        }
        out.writeBytes("]".getBytes(StandardCharsets.UTF_8));
        return out.toByteArray();
    }

    private static SandboxException refused(String field, String rule) {
        return new SandboxException(new Failure.InvalidRequest(field, rule));
    }
}
