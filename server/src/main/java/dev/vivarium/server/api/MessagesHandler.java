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
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import tools.jackson.core.JsonGenerator;

/// `POST` and `GET /api/v1/sandboxes/{sandbox_id}/messages`, and `POST …/interventions`: what is said to an agent,
/// and how it hears of it. Thread-safe.
public final class MessagesHandler {
    private final Inbox inbox;
    private final Runs runs;
    private final Duration breath;

    /// @param breath a stream says something at least this often, so that a hang-up is noticed
    public MessagesHandler(Inbox inbox, Runs runs, Duration breath) {
        this.inbox = inbox;
        this.runs = runs;
        this.breath = breath;
    }

    public void post(Exchange exchange) throws IOException {
        exchange.allowQuery();
        SandboxId sandbox = exchange.sandbox().id();
        var queued = inbox.post(sandbox, message(exchange.json()));
        boolean isHeard = runs.isAtWork(sandbox);
        exchange.answer(202, out -> {
            out.writeStringProperty("message_id", queued.message().id());
            out.writeStringProperty("status", "queued");
            out.writeNumberProperty("queue_size", queued.waiting());
            out.writeBooleanProperty("listening", isHeard);
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
        SandboxId sandbox = exchange.sandbox().id();
        var queued = inbox.post(sandbox, said);
        boolean isHeard = runs.isAtWork(sandbox);
        exchange.answer(202, out -> {
            out.writeStringProperty("id", queued.message().id());
            out.writeStringProperty("status", "queued");
            out.writeStringProperty("inject_mode", said.mode().text());
            out.writeNumberProperty(
                    "estimated_delivery_ms", inbox.usualLatency().toMillis());
            out.writeBooleanProperty("listening", isHeard);
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

    /// Gives out what waits, in one answer or as a stream. If the caller has hung up by then, it waits on. A worker
    /// that says what it has with `ack` is given the rest again until it does.
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

    /// Looks whether the caller may hear what is said: a worker that comes late must not take what was said to the
    /// next one. Throws if not.
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

    /// What a worker does not acknowledge with its next question, it gets again.
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
            // Another run may have begun while this one waited.
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
