package dev.vivarium.sdk.http;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/// Client of one server with one key, over persistent HTTP/1.1 connections with timeouts. Thread-safe.
final class Connection implements AutoCloseable {
    private static final int LAST_SUCCESS = 299;
    private static final int SMALL_BODY = 64 * 1024;

    private final RemoteConfig config;
    private final String base;
    private final ExecutorService workers;
    private final HttpClient http;

    Connection(RemoteConfig config) {
        this.config = config;
        this.base = config.server().toString().replaceAll("/+$", "");
        this.workers = Executors.newThreadPerTaskExecutor(
                Thread.ofVirtual().name("vivarium-sdk-", 0).factory());
        this.http = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(config.connect())
                .executor(workers)
                .build();
    }

    RemoteConfig config() {
        return config;
    }

    Answer get(String path) {
        return exchange(request(path).GET().timeout(config.answer()).build());
    }

    Answer post(String path, byte[] json) {
        return post(path, json, config.answer());
    }

    Answer post(String path, byte[] json, Duration patience) {
        return exchange(json(path, json, patience).build());
    }

    /// Sends a call whose response is streamed. The caller closes it.
    BodyStream stream(String path, byte[] json, String accept, Duration patience, Duration silence) {
        var request = json(path, json, patience).header("Accept", accept).build();
        HttpResponse<BodyStream> response = send(request, silence);
        if (response.statusCode() <= LAST_SUCCESS) {
            return response.body();
        }
        throw answer(response).failure();
    }

    /// Sends a form of any size. The timeout applies to progress, not to the whole upload.
    ///
    /// The client of the JDK reads a response only after it has sent everything, unless it uses `Expect:
    /// 100-continue`. For large forms it does, so that a refusal costs no upload.
    Answer upload(String path, Multipart form, Source bytes, BodyPublisher body) throws IOException {
        boolean large = body.contentLength() < 0 || body.contentLength() > SMALL_BODY;
        var request = request(path)
                .header("Content-Type", form.contentType())
                .expectContinue(large)
                .POST(body)
                .build();
        var sent = http.sendAsync(request, _ -> new BodyStream(config.silence()));
        try {
            return answer(awaitProgress(sent, bytes));
        } catch (RuntimeException e) {
            bytes.check();
            throw e;
        }
    }

    static String query(String name, String value) {
        return name + "=" + encoded(value);
    }

    static String encoded(String value) {
        return URLEncoder.encode(value, StandardCharsets.UTF_8).replace("+", "%20");
    }

    private HttpRequest.Builder json(String path, byte[] json, Duration patience) {
        return request(path)
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofByteArray(json))
                .timeout(patience);
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create(base + path)).header("Authorization", "Bearer " + config.apiKey());
    }

    private Answer exchange(HttpRequest request) {
        return answer(send(request, config.silence()));
    }

    private Answer answer(HttpResponse<BodyStream> response) {
        try (var body = response.body()) {
            String type = response.headers().firstValue("Content-Type").orElse("");
            return new Answer(config.server(), response.statusCode(), type, body.readAllBytes());
        } catch (IOException e) {
            throw failed(e);
        }
    }

    private HttpResponse<BodyStream> send(HttpRequest request, Duration silence) {
        try {
            return http.send(request, _ -> new BodyStream(silence));
        } catch (IOException e) {
            throw failed(e);
        } catch (InterruptedException _) {
            throw interrupted();
        }
    }

    private HttpResponse<BodyStream> awaitProgress(CompletableFuture<HttpResponse<BodyStream>> sent, Source bytes) {
        long before = -1;
        while (true) {
            try {
                return sent.get(config.silence().toNanos(), TimeUnit.NANOSECONDS);
            } catch (TimeoutException _) {
                if (bytes.taken() == before && !bytes.isReading()) {
                    sent.cancel(true);
                    throw unreachable("the server accepted no data for " + seconds(config.silence()), null);
                }
                before = bytes.taken();
            } catch (ExecutionException e) {
                throw e.getCause() instanceof IOException cause ? failed(cause) : new IllegalStateException(e);
            } catch (InterruptedException _) {
                sent.cancel(true);
                throw interrupted();
            }
        }
    }

    /// Distinguishes an interrupt of the caller from a failure of the server.
    RuntimeException failed(IOException e) {
        return switch (e) {
            case InterruptedIOException _ when Thread.currentThread().isInterrupted() -> interrupted();
            case HttpConnectTimeoutException _ -> unreachable("no connection within " + seconds(config.connect()), e);
            case HttpTimeoutException timeout -> unreachable(said(timeout), e);
            case ConnectException _
            when hasCause(e, UnresolvedAddressException.class) -> unreachable("its host is unknown", e);
            case ConnectException _ -> unreachable("the connection was refused", e);
            default -> unreachable("the connection broke (" + said(e) + ")", e);
        };
    }

    SandboxException unreachable(String why, @Nullable Throwable cause) {
        var failure = new Failure.ServerUnreachable(config.server().toString(), why);
        return cause == null ? new SandboxException(failure) : new SandboxException(failure, cause);
    }

    private static CancellationException interrupted() {
        Thread.currentThread().interrupt();
        return new CancellationException("interrupted while waiting for the server");
    }

    private static boolean hasCause(Throwable e, Class<? extends Throwable> type) {
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            if (type.isInstance(cause)) {
                return true;
            }
        }
        return false;
    }

    private static String said(Throwable e) {
        return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
    }

    private static String seconds(Duration time) {
        return time.toMillis() / 1000.0 + " s";
    }

    /// Cancels calls in progress.
    @Override
    public void close() {
        http.shutdownNow();
        http.close();
        workers.close();
    }
}
