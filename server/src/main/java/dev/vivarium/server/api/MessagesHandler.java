package dev.vivarium.server.api;

import dev.vivarium.core.access.Principal;
import dev.vivarium.core.access.WorkerGrant;
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
    private final Runs runs;

    public MessagesHandler(Inbox inbox, Runs runs) {
        this.inbox = inbox;
        this.runs = runs;
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
        var queued = inbox.post(exchange.sandbox().id(), said);
        exchange.answer(202, out -> {
            out.writeStringProperty("id", queued.message().id());
            out.writeStringProperty("status", "queued");
            out.writeStringProperty("inject_mode", said.mode().text());
            out.writeNumberProperty(
                    "estimated_delivery_ms", inbox.usualLatency().toMillis());
        });
    }

    /// A message that is to reach the agent soon, and how.
    private static NewMessage intervention(JsonFields fields) {
        var mode = Mode.find(choice(fields, "inject_mode", List.of("immediate", "next_turn")))
                .orElseThrow();
        var priority = choice(fields, "priority", List.of("normal", "low", "high", "urgent"));
        var source = fields.optionalString("source").orElse("user");
        var kind = priority.equals("urgent")
                ? Kind.INTERRUPT
                : source.equals("guardian") ? Kind.GUARDIAN_NUDGE : Kind.GUIDANCE;
        fields.string("message");
        fields.refuseOthers();
        try {
            return new NewMessage(fields.string("message"), kind, mode, source);
        } catch (SandboxException e) {
            if (e.failure() instanceof Failure.InvalidRequest(String field, String rule) && field.equals("content")) {
                // Here it goes by another name.
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

    /// Gives out what waits. If the caller has hung up by then, it waits on. A worker that says what it has with
    /// `ack` is given the rest again until it does.
    public void take(Exchange exchange) throws IOException {
        if (exchange.principal() instanceof Principal.Worker(WorkerGrant grant)) {
            requireItsOwn(grant);
            exchange.allowQuery("wait", "ack");
            if (exchange.optionalQuery("ack").isPresent()) {
                offer(exchange);
                return;
            }
        } else {
            exchange.allowQuery("wait");
        }
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

    /// A worker that comes late must not take what was said to the next one.
    private void requireItsOwn(WorkerGrant grant) {
        if (runs.isAnothers(grant.sandbox(), grant.task())) {
            var _ = runs.requireActive(grant.sandbox(), grant.task());
        }
    }

    /// To the worker: what it does not acknowledge with its next question, it gets again.
    private void offer(Exchange exchange) throws IOException {
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
                json.writeStringProperty("inject_mode", message.mode().text());
            });
        }
        out.writeBytes("]".getBytes(StandardCharsets.UTF_8));
        return out.toByteArray();
    }

    private static SandboxException refused(String field, String rule) {
        return new SandboxException(new Failure.InvalidRequest(field, rule));
    }
}
