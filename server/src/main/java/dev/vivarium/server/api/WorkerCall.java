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

/// Common parts of the routes of workers: the grant, idempotent requests and types of fields. Stateless.
final class WorkerCall {
    static final String FOR_WORKERS = "For the worker in the sandbox, with the token that it was started with.";
    static final String IDEMPOTENCY =
            "Key of an idempotent request. A repeated request with the same key returns the first response.";

    private static final int MAX_MESSAGE = 10 * 1024;
    static final int LONGEST_DATA = 100 * 1024;

    private WorkerCall() {}

    static WorkerGrant grant(Exchange exchange) {
        if (exchange.principal() instanceof Principal.Worker(WorkerGrant grant)) {
            return grant;
        }
        throw new IllegalStateException("the route is not a worker's");
    }

    /// Returns the grant of the worker. Throws [Failure.NotAllowed] if the path names another task.
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

    /// Handles the first request with a key and returns its response.
    interface Once {
        Consumer<JsonGenerator> act(JsonFields fields, Optional<String> key);
    }

    /// Runs `once` for the first request with an `Idempotency-Key`. A repeated request gets the same response.
    /// Another request with the same key is rejected.
    static void handleIdempotently(Exchange exchange, IdempotencyRecords records, Once once) throws IOException {
        JsonFields fields = exchange.json();
        Optional<String> key = exchange.header("Idempotency-Key");
        if (key.isEmpty()) {
            exchange.answer(200, once.act(fields, key));
            return;
        }
        var request = exchange.request();
        var identity = new IdempotencyRecords.IdempotentRequest(
                grant(exchange).sandbox(),
                key.get(),
                request.getMethod() + " " + request.getHttpURI().getPath(),
                fields.text());
        Optional<String> before = records.find(identity);
        String answer = before.orElseGet(() -> new String(Json.bytes(once.act(fields, key)), StandardCharsets.UTF_8));
        if (before.isEmpty()) {
            records.keep(identity, answer);
        }
        exchange.answer(200, "application/json", answer.getBytes(StandardCharsets.UTF_8));
    }

    /// Returns the type of a text for people in the field `name`. Reading removes control characters.
    static JsonType<String> message(String name) {
        return JsonType.STRING.as(text -> plain(name, text), Function.identity());
    }

    private static String plain(String name, String text) {
        requireBytes(name, text, MAX_MESSAGE);
        return PlainText.of(text);
    }

    /// Returns the type of an object in the field `name` that is stored unchanged, with at most `max` bytes.
    static JsonType<String> object(String name, int max) {
        return JsonType.RAW_OBJECT.as(
                text -> {
                    requireBytes(name, text, max);
                    return text;
                },
                Function.identity());
    }

    static void requireBytes(String name, String text, int max) {
        int bytes = text.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > max) {
            throw SandboxException.invalid(name, "has " + bytes + " bytes; at most " + max + " are taken");
        }
    }
}
