package dev.vivarium.server.model;

import java.io.IOException;
import java.net.ProtocolException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// HTTP client for model providers. Thread-safe.
///
/// It is created on first use, because a server without agents needs none. The JDK's client adds no dependency,
/// supports HTTP/2 and can cancel a call.
final class ModelUpstream implements AutoCloseable {
    private static final Duration CONNECT = Duration.ofSeconds(10);

    private final Object lock = new Object();
    private @Nullable HttpClient client;

    /// Sends the request and returns when the response starts. It passes `onDisconnect` the action that cancels the
    /// call. The caller must close the body of the result.
    HttpResponse<BodyStream> ask(HttpRequest request, Duration timeout, Consumer<Runnable> onDisconnect)
            throws ModelError, IOException {
        var body = new BodyStream();
        HttpClient asked = client();
        var answer = asked.sendAsync(request, _ -> body);
        onDisconnect.accept(() -> {
            answer.cancel(true);
            body.close();
        });
        try {
            return answer.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            answer.cancel(true);
            throw new ModelError(ModelError.Kind.LATE, "the model did not answer within " + timeout.toSeconds() + " s");
        } catch (CancellationException e) {
            throw new IOException("the agent has hung up", e);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof ProtocolException) {
                retire(asked);
            }
            throw new ModelError(ModelError.Kind.UNREACHABLE, "the model cannot be reached: " + why(e.getCause()));
        } catch (InterruptedException e) {
            answer.cancel(true);
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    /// Describes the failure without its message, which can contain addresses that a sandbox must not see.
    private static String why(@Nullable Throwable cause) {
        return switch (cause) {
            case java.net.http.HttpConnectTimeoutException _ -> "connecting took too long";
            case java.net.ConnectException _ -> "it refused the connection";
            case javax.net.ssl.SSLException _ -> "TLS failed";
            // The JDK's client accepts at most eight.
            case java.net.ProtocolException e
            when String.valueOf(e.getMessage()).contains("interim") -> "it sent too many informational responses";
            case null, default -> "the connection broke";
        };
    }

    /// Replaces a client and closes its connections after the calls in flight. The client does not close the
    /// connection of a response that violates the protocol.
    private void retire(HttpClient used) {
        synchronized (lock) {
            if (client == used) {
                client = null;
            }
        }
        used.shutdown();
    }

    private HttpClient client() {
        synchronized (lock) {
            if (client == null) {
                client = HttpClient.newBuilder()
                        .connectTimeout(CONNECT)
                        // A redirect could send the key to another host.
                        .followRedirects(HttpClient.Redirect.NEVER)
                        .executor(Executors.newThreadPerTaskExecutor(
                                Thread.ofVirtual().name("model-", 0).factory()))
                        .build();
            }
            return client;
        }
    }

    /// Cancels all calls. Idempotent.
    @Override
    public void close() {
        synchronized (lock) {
            if (client != null) {
                client.shutdownNow();
            }
        }
    }
}
