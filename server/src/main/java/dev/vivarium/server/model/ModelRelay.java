package dev.vivarium.server.model;

import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.settings.ModelConfig;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.http.HttpHeaders;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;

/// Relay of one model response, which counts its tokens. Confined to the worker that serves the request.
final class ModelRelay {
    /// Recorded status of a call whose agent disconnected before the end.
    static final int CLIENT_DISCONNECTED = 499;

    private static final int OK = 200;
    private static final int REFUSED_KEY = 401;
    private static final int FIRST_ERROR = 400;
    private static final int MAX_WHOLE = 32 * 1024 * 1024;
    private static final int MAX_ERROR = 64 * 1024;

    /// Response headers that the server forwards, in addition to those for rate limits.
    private static final List<String> PASSED =
            List.of("retry-after", "retry-after-ms", "x-should-retry", "request-id", "x-request-id");

    private static final List<String> PASSED_PREFIXES = List.of("anthropic-ratelimit-", "x-ratelimit-");

    private final Exchange exchange;
    private final ModelApi dialect;
    private final ModelConfig config;
    private final TokenCounter tally;
    private Completion completion = () -> {};

    /// Final step that completes the response.
    private interface Completion {
        void complete() throws IOException;
    }

    ModelRelay(Exchange exchange, ModelApi dialect, ModelRequest modelRequest, ModelConfig config) {
        this.exchange = exchange;
        this.dialect = dialect;
        this.config = config;
        this.tally = new TokenCounter(dialect, modelRequest.model());
    }

    TokenCounter tally() {
        return tally;
    }

    /// Relays the response, except its completion, which [#finish] does. Returns the status.
    int pass(HttpResponse<BodyStream> answer) throws IOException, ModelError {
        try (var body = answer.body()) {
            String type = answer.headers().firstValue("content-type").orElse("").toLowerCase(Locale.ROOT);
            int status = answer.statusCode();
            if (status >= FIRST_ERROR) {
                error(answer.headers(), status, type, body);
            } else if (status == OK && type.startsWith("text/event-stream")) {
                stream(answer.headers(), body);
            } else if (status == OK && type.startsWith("application/json")) {
                whole(answer.headers(), body);
            } else {
                throw new ModelError(
                        ModelError.Kind.UNREACHABLE,
                        "what the model answered is no answer of this API: status " + status);
            }
            return status;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    /// Completes the response. Call it after the charge: an agent can exit as soon as it has read the end.
    void finish() throws IOException {
        completion.complete();
    }

    private void stream(HttpHeaders headers, BodyStream body) throws IOException, InterruptedException, ModelError {
        pass(headers);
        tally.begun();
        OutputStream out = exchange.stream(OK, "text/event-stream; charset=utf-8", OptionalLong.empty());
        var lines = new SseParser(tally::event);
        for (var piece = body.next(config.timeout()); piece.isPresent(); piece = body.next(config.timeout())) {
            lines.see(piece.get());
            out.write(piece.get());
            out.flush();
        }
        lines.end();
        if (!tally.hasEnded()) {
            // The connection ended correctly, but the response did not. Forwarding this end would hide the failure.
            throw new ModelError(ModelError.Kind.UNREACHABLE, "the model's answer ended before its last event");
        }
        completion = out::close;
    }

    private void whole(HttpHeaders headers, BodyStream body) throws IOException, InterruptedException, ModelError {
        byte[] bytes = read(body, MAX_WHOLE);
        if (!tally.whole(new String(bytes, StandardCharsets.UTF_8))) {
            throw new ModelError(ModelError.Kind.UNREACHABLE, "what the model answered is not JSON");
        }
        pass(headers);
        completion = () -> exchange.answer(OK, "application/json", bytes);
    }

    private void error(HttpHeaders headers, int status, String type, BodyStream body)
            throws IOException, InterruptedException, ModelError {
        if (status == REFUSED_KEY) {
            throw new ModelError(
                    ModelError.Kind.REFUSED, "those who run the model refused the key of this server's operator");
        }
        String text = redacted(new String(read(body, MAX_ERROR), StandardCharsets.UTF_8));
        pass(headers);
        byte[] bytes = type.startsWith("application/json")
                ? text.getBytes(StandardCharsets.UTF_8)
                : dialect.error("api_error", "the model answered with status " + status);
        completion = () -> exchange.answer(status, "application/json", bytes);
    }

    private byte[] read(BodyStream body, int max) throws IOException, InterruptedException, ModelError {
        var bytes = new ByteArrayOutputStream();
        for (var piece = body.next(config.timeout()); piece.isPresent(); piece = body.next(config.timeout())) {
            if (bytes.size() + piece.get().length > max) {
                throw new ModelError(
                        ModelError.Kind.UNREACHABLE, "the model answered with more than " + max + " bytes");
            }
            bytes.writeBytes(piece.get());
        }
        return bytes.toByteArray();
    }

    /// Removes the operator's keys from an error. Some providers repeat the request in it.
    private String redacted(String text) {
        String clean = text;
        for (var provider : Arrays.asList(config.anthropic(), config.openai())) {
            if (provider.key().isPresent()) {
                clean = clean.replace(provider.key().get(), "***");
            }
        }
        return clean;
    }

    private void pass(HttpHeaders headers) {
        headers.map().forEach((name, values) -> {
            String lower = name.toLowerCase(Locale.ROOT);
            if (PASSED.contains(lower) || PASSED_PREFIXES.stream().anyMatch(lower::startsWith)) {
                exchange.answerHeader(name, values.getFirst());
            }
        });
    }
}
