package dev.vivarium.server.api;

import dev.vivarium.core.access.Principal;
import dev.vivarium.core.access.WorkerGrant;
import dev.vivarium.core.run.IdempotencyRecords;
import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.json.JsonType;
import dev.vivarium.model.Failure;
import dev.vivarium.model.PlainText;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.http.Exchange;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import tools.jackson.core.JsonGenerator;

/// One call of a worker: who it is, and that it speaks of its own task. Stateless.
final class WorkerCall {
    private static final int LONGEST_MESSAGE = 10 * 1024;
    private static final int LONGEST_DATA = 100 * 1024;

    private WorkerCall() {}

    static WorkerGrant grant(Exchange exchange) {
        if (exchange.principal() instanceof Principal.Worker(WorkerGrant grant)) {
            return grant;
        }
        throw new IllegalStateException("the route is not a worker's");
    }

    /// The grant of a worker that names its own task in the path; throws [Failure.NotAllowed] otherwise.
    static WorkerGrant ofTask(Exchange exchange) {
        var grant = grant(exchange);
        requireOwn(exchange.path("task_id"), grant.task().value(), "task");
        return grant;
    }

    static void requireOwn(String named, String own, String what) {
        if (!named.equals(own)) {
            throw new SandboxException(new Failure.NotAllowed("a worker can speak of its own " + what + " alone"));
        }
    }

    /// What is done the first time a worker says something, and what it is told.
    interface Once {
        Consumer<JsonGenerator> act(JsonFields fields, Optional<String> key);
    }

    /// Does it once for each `Idempotency-Key`; who repeats it is told the same, and who says something else under
    /// it is refused.
    static void once(Exchange exchange, IdempotencyRecords repeats, Once once) throws IOException {
        JsonFields fields = exchange.json();
        Optional<String> key = exchange.header("Idempotency-Key");
        if (key.isEmpty()) {
            exchange.answer(200, once.act(fields, key));
            return;
        }
        var request = exchange.request();
        var saying = new IdempotencyRecords.Saying(
                grant(exchange).sandbox(),
                key.get(),
                request.getMethod() + " " + request.getHttpURI().getPath(),
                fields.text());
        Optional<String> before = repeats.find(saying);
        String answer = before.orElseGet(() -> new String(Json.bytes(once.act(fields, key)), StandardCharsets.UTF_8));
        if (before.isEmpty()) {
            repeats.keep(saying, answer);
        }
        exchange.answer(200, "application/json", answer.getBytes(StandardCharsets.UTF_8));
    }

    /// A text for people, without control characters.
    static String message(JsonFields fields, String name) {
        return plain(name, fields.string(name));
    }

    /// Returns the type of such a text in the field `name`.
    static JsonType<String> message(String name) {
        return JsonType.STRING.as(text -> plain(name, text), Function.identity());
    }

    static Optional<String> optionalMessage(JsonFields fields, String name) {
        return fields.optionalString(name).map(text -> plain(name, text));
    }

    private static String plain(String name, String text) {
        requireBytes(name, text, LONGEST_MESSAGE);
        return PlainText.of(text);
    }

    /// An object that is kept as it is.
    static Optional<String> object(JsonFields fields, String name) {
        return fields.optionalObject(name).map(object -> {
            String text = object.text();
            requireBytes(name, text, LONGEST_DATA);
            return text;
        });
    }

    static void requireBytes(String name, String text, int most) {
        int bytes = text.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > most) {
            throw refused(name, "has " + bytes + " bytes; at most " + most + " are taken");
        }
    }

    static SandboxException refused(String field, String rule) {
        return new SandboxException(new Failure.InvalidRequest(field, rule));
    }
}
