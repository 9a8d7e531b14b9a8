package dev.vivarium.server.http;

import dev.vivarium.core.access.IdempotencyKeys;
import dev.vivarium.core.access.IdempotencyKeys.Begun;
import dev.vivarium.core.access.IdempotencyKeys.Claim;
import dev.vivarium.json.Json;
import dev.vivarium.json.ProblemJson;
import dev.vivarium.model.Failure;
import dev.vivarium.model.RequestFailure;
import dev.vivarium.model.SandboxException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.eclipse.jetty.server.Request;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Requests with an `Idempotency-Key`: the first one runs, and a repeated one gets the first answer. Thread-safe.
///
/// An answer below 500 that is an error changed nothing, and neither did 503 and 507. The server does not keep them, so
/// that the client can repeat the request with the same key.
public final class Idempotency {
    static final String HEADER = "Idempotency-Key";

    private static final Logger LOG = LoggerFactory.getLogger(Idempotency.class);
    private static final List<String> KEPT_HEADERS = List.of("Content-Type", "Content-Disposition", "ETag", "Location");

    private final IdempotencyKeys keys;

    public Idempotency(IdempotencyKeys keys) {
        this.keys = keys;
    }

    /// Reports whether a request has a key on a route that accepts one.
    static boolean appliesTo(Request request, Route route) {
        return route.description().isIdempotent() && request.getHeaders().contains(HEADER);
    }

    /// Runs the operation of the first request with a key, or repeats its answer.
    void run(Exchange exchange, RecordedResponse response, Route.Operation operation) throws IOException {
        String key = exchange.header(HEADER).orElseThrow();
        String target = exchange.request().getMethod() + " "
                + exchange.request().getHttpURI().getPathQuery();
        switch (keys.begin(exchange.principal(), key, target)) {
            case Begun.First(var claim) -> new First(exchange, response, claim).run(operation);
            case Begun.InProgress() -> throw new SandboxException(RequestFailure.IdempotencyConflict.inProgress());
            case Begun.Unknown() -> throw new SandboxException(RequestFailure.IdempotencyConflict.unknown());
            case Begun.Complete(var bodyHash, var answer) -> {
                requireSameBody(exchange, bodyHash);
                answer(
                        exchange,
                        answer.orElseThrow(() -> new SandboxException(RequestFailure.IdempotencyConflict.notKept())));
            }
        }
    }

    private void requireSameBody(Exchange exchange, String bodyHash) throws IOException {
        MessageDigest digest = keys.digest();
        drain(new DigestInputStream(exchange.body(), digest));
        if (!hex(digest).equals(bodyHash)) {
            throw new SandboxException(RequestFailure.IdempotencyKeyReused.ofBody());
        }
    }

    private static void drain(InputStream body) throws IOException {
        body.transferTo(OutputStream.nullOutputStream());
    }

    private static String hex(MessageDigest digest) {
        return HexFormat.of().formatHex(digest.digest());
    }

    private static boolean isKept(int status) {
        return status < 400 || status >= 500 && status != 503 && status != 507;
    }

    /// First request with a key. Confined to the worker that serves it.
    private final class First {
        private final Exchange exchange;
        private final RecordedResponse response;
        private final Claim claim;
        private final MessageDigest digest = keys.digest();
        private final AtomicBoolean isEnded = new AtomicBoolean();

        First(Exchange exchange, RecordedResponse response, Claim claim) {
            this.exchange = exchange;
            this.response = response;
            this.claim = claim;
        }

        void run(Route.Operation operation) throws IOException {
            exchange.digestBody(digest);
            response.record(
                    exchange::tryReserve,
                    () -> end(response.getStatus(), response.body().map(this::encoded)));
            try {
                operation.handle(exchange);
            } catch (SandboxException e) {
                int status = ProblemJson.status(e.failure());
                end(status, Optional.of(problem(e.failure(), status)));
                throw e;
            } catch (IOException e) {
                // The body of the request broke off, before the request had an effect.
                end(400, Optional.empty());
                throw e;
            } finally {
                if (isEnded.compareAndSet(false, true)) {
                    keys.abandon(claim);
                }
            }
            if (response.isClientGone()) {
                throw new IOException("the client disconnected before the answer");
            }
        }

        /// Ends the claim once. A failure of the store must not hide the answer; the effect of the request is
        /// then unknown to a repeated one.
        private void end(int status, Optional<byte[]> answer) {
            if (!isEnded.compareAndSet(false, true)) {
                return;
            }
            try {
                if (isKept(status)) {
                    drain(exchange.body());
                    keys.finish(claim, hex(digest), answer);
                } else {
                    keys.release(claim);
                }
            } catch (SandboxException | IOException e) {
                keys.abandon(claim);
                LOG.warn("the answer to a request with an idempotency key is not kept: {}", e.getMessage());
            }
        }

        private byte[] encoded(byte[] body) {
            var headers = new LinkedHashMap<String, String>();
            for (String name : KEPT_HEADERS) {
                Optional.ofNullable(response.getHeaders().get(name)).ifPresent(value -> headers.put(name, value));
            }
            return encode(response.getStatus(), headers, body);
        }

        private static byte[] problem(Failure failure, int status) {
            return encode(
                    status,
                    Map.of("Content-Type", ProblemJson.CONTENT_TYPE),
                    Json.bytes(out -> ProblemJson.write(out, failure, status)));
        }
    }

    private static byte[] encode(int status, Map<String, String> headers, byte[] body) {
        var bytes = new ByteArrayOutputStream();
        try (var out = new DataOutputStream(bytes)) {
            out.writeInt(status);
            out.writeInt(headers.size());
            for (var header : headers.entrySet()) {
                out.writeUTF(header.getKey());
                out.writeUTF(header.getValue());
            }
            out.write(body);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    private static void answer(Exchange exchange, byte[] encoded) throws IOException {
        try (var in = new DataInputStream(new ByteArrayInputStream(encoded))) {
            int status = in.readInt();
            String contentType = "application/octet-stream";
            for (int left = in.readInt(); left > 0; left--) {
                String name = in.readUTF();
                String value = in.readUTF();
                if (name.equals("Content-Type")) {
                    contentType = value;
                } else {
                    exchange.answerHeader(name, value);
                }
            }
            exchange.answerHeader("Idempotency-Replayed", "true");
            exchange.answer(status, contentType, in.readAllBytes());
        }
    }
}
