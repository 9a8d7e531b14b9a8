package dev.vivarium.server.http;

import dev.vivarium.core.LoopBudget;
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

/// Encoding of a failure as a problem response, never as a page or a stack trace. Stateless.
final class ProblemResponse {
    /// Limits for the part of a body that the server discards after the response. Otherwise, the connection would
    /// be reset while the client sends, and most clients would not read the response.
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

    /// Discards the rest of the request. Reports whether it reached the end, so that the connection can be reused.
    static boolean discard(Request request) {
        var budget = new LoopBudget();
        try {
            return discard(request, budget);
        } finally {
            budget.blocks();
        }
    }

    private static boolean discard(Request request, LoopBudget budget) {
        long deadline = System.nanoTime() + LINGER.toNanos();
        long bytes = 0;
        while (bytes < LINGER_BYTES && System.nanoTime() < deadline) {
            Content.Chunk chunk = request.read();
            if (chunk == null) {
                budget.blocks();
                if (!awaitContent(request, deadline)) {
                    return false;
                }
                continue;
            }
            if (Content.Chunk.isFailure(chunk)) {
                return false;
            }
            budget.spend(chunk.remaining());
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

    /// Handler for requests that Jetty itself refuses: invalid requests, and headers or URLs that are too long.
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
