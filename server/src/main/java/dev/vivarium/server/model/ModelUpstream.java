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

/// The connections to those who run models. Made when first needed: a server without agents has none. Thread-safe.
///
/// The JDK's client, because it needs no dependency more, speaks HTTP/2, and gives up a call when it is told to.
final class ModelUpstream implements AutoCloseable {
    private static final Duration CONNECT = Duration.ofSeconds(10);

    private final Object lock = new Object();
    private @Nullable HttpClient client;

    /// Asks, and returns when the answer has begun. `whenGone` is given what to do when whoever wants the answer is
    /// gone. Close the body of the result.
    HttpResponse<BodyStream> ask(HttpRequest request, Duration patience, Consumer<Runnable> whenGone)
            throws ModelError, IOException {
        var body = new BodyStream();
        HttpClient asked = client();
        var answer = asked.sendAsync(request, _ -> body);
        whenGone.accept(() -> {
            answer.cancel(true);
            body.close();
        });
        try {
            return answer.get(patience.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            answer.cancel(true);
            throw new ModelError(
                    ModelError.Kind.LATE, "the model did not answer within " + patience.toSeconds() + " s");
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

    /// The kind of failure alone: a message may hold addresses that are nobody's business inside a sandbox.
    private static String why(@Nullable Throwable cause) {
        return switch (cause) {
            case java.net.http.HttpConnectTimeoutException _ -> "connecting took too long";
            case java.net.ConnectException _ -> "nobody answers at its address";
            case javax.net.ssl.SSLException _ -> "TLS failed";
            // The client of the JDK counts them, and takes eight.
            case java.net.ProtocolException e
            when String.valueOf(e.getMessage()).contains("interim") -> "it sent too many informational responses";
            case null, default -> "the connection broke";
        };
    }

    /// Lets calls under way end and then closes all connections of a client. The client does not close the
    /// connection of an answer that broke the protocol.
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
                        // A redirect could take the key elsewhere.
                        .followRedirects(HttpClient.Redirect.NEVER)
                        .executor(Executors.newThreadPerTaskExecutor(
                                Thread.ofVirtual().name("model-", 0).factory()))
                        .build();
            }
            return client;
        }
    }

    /// Cuts what is under way. Idempotent.
    @Override
    public void close() {
        synchronized (lock) {
            if (client != null) {
                client.shutdownNow();
            }
        }
    }
}
