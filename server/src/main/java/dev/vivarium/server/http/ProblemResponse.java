package dev.vivarium.server.http;

import dev.vivarium.json.Json;
import dev.vivarium.json.ProblemJson;
import dev.vivarium.model.Failure;
import dev.vivarium.model.RequestFailure;
import dev.vivarium.model.ServerFailure;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.handler.ErrorHandler;
import org.eclipse.jetty.util.Callback;

/// How a failure leaves the server: as a problem, never as a page or a stack trace. Stateless.
final class ProblemResponse {
    /// How long and how much of an unwanted body is thrown away after the answer. Without this the connection would
    /// be reset under a client that is still sending, and most clients then never see the answer.
    private static final Duration LINGER = Duration.ofSeconds(10);

    private static final long LINGER_BYTES = 1L << 30;

    private ProblemResponse() {}

    static void send(Response response, Failure failure, Consumer<HttpFields.Mutable> more) throws IOException {
        response.reset();
        headers(response.getHeaders(), failure);
        more.accept(response.getHeaders());
        response.setStatus(ProblemJson.status(failure));
        var body = new Body(response);
        Json.write(body, out -> ProblemJson.write(out, failure));
        body.close();
    }

    private static void headers(HttpFields.Mutable headers, Failure failure) {
        headers.put(HttpHeader.CONTENT_TYPE, ProblemJson.CONTENT_TYPE);
        headers.put(HttpHeader.CACHE_CONTROL, "no-store");
        if (failure instanceof Failure.NotAuthenticated) {
            headers.put(HttpHeader.WWW_AUTHENTICATE, "Bearer realm=\"vivarium\"");
        }
        if (failure instanceof Failure.AtCapacity full) {
            headers.put(HttpHeader.RETRY_AFTER, Math.max(1, full.retryAfter().toSeconds()));
        } else if (failure instanceof Failure.NoDiskSpace full) {
            headers.put(HttpHeader.RETRY_AFTER, Math.max(1, full.retryAfter().toSeconds()));
        } else if (failure.owner() == Failure.Owner.CAPACITY || failure instanceof RequestFailure.TooManyRequests) {
            headers.put(HttpHeader.RETRY_AFTER, 1);
        }
    }

    /// Throws the rest of the request away. Reports whether its end was reached, so that the connection can go on.
    static boolean discard(Request request) {
        long deadline = System.nanoTime() + LINGER.toNanos();
        long bytes = 0;
        while (bytes < LINGER_BYTES) {
            Content.Chunk chunk = request.read();
            if (chunk == null) {
                if (!awaitContent(request, deadline)) {
                    return false;
                }
                continue;
            }
            if (Content.Chunk.isFailure(chunk)) {
                return false;
            }
            bytes += chunk.remaining();
            chunk.release();
            if (chunk.isLast()) {
                return true;
            }
        }
        return false;
    }

    private static boolean awaitContent(Request request, long deadline) {
        var ready = new CountDownLatch(1);
        request.demand(ready::countDown);
        try {
            return ready.await(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /// What Jetty itself refuses, before any handler: broken requests, headers or addresses that are too long.
    static final class OfJetty extends ErrorHandler {
        @Override
        protected void generateResponse(
                Request request, Response response, int status, String message, Throwable cause, Callback callback)
                throws IOException {
            send(response, failure(status, message), fields -> {});
            callback.succeeded();
        }

        @Override
        public ByteBuffer badMessageError(int status, String reason, HttpFields.Mutable fields) {
            fields.put(HttpHeader.CONTENT_TYPE, ProblemJson.CONTENT_TYPE);
            return ByteBuffer.wrap(Json.bytes(out -> ProblemJson.write(out, failure(status, reason))));
        }

        private static Failure failure(int status, @org.jspecify.annotations.Nullable String reason) {
            String sentence = reason == null || reason.isBlank() ? "the request cannot be read" : reason;
            return status >= 500
                    ? new ServerFailure.InternalError(status, sentence)
                    : new RequestFailure.BadHttp(status, sentence);
        }
    }
}
