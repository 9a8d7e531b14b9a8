package dev.vivarium.sdk.http;

import dev.vivarium.sdk.http.Transport.Body;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// Senders with `java.net.http` over persistent HTTP/1.1 connections. An interrupt ends a wait, and any thread can
/// close a response. Thread-safe.
final class HttpClientSender implements AutoCloseable {
    private final Duration connect;
    private final Duration silence;
    private final ExecutorService workers;
    private final HttpClient http;

    /// @param silence timeout without data in a body
    HttpClientSender(Duration connect, Duration silence) {
        this.connect = connect;
        this.silence = silence;
        this.workers = Executors.newThreadPerTaskExecutor(
                Thread.ofVirtual().name("vivarium-sdk-", 0).factory());
        this.http = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(connect)
                .executor(workers)
                .build();
    }

    /// Returns a sender that waits at most this time for a status line.
    Sender within(Duration timeout) {
        return (method, address, headers, body) -> {
            var request = request(address, headers)
                    .method(method, publisher(body.bytes(), body.length()))
                    .timeout(timeout);
            try {
                return response(http.send(request.build(), BodyHandlers.ofInputStream()));
            } catch (IOException e) {
                throw explained(e);
            } catch (InterruptedException _) {
                throw interrupted();
            }
        };
    }

    /// Sends a body of any size. The timeout applies to progress, not to the whole upload.
    ///
    /// The client of the JDK reads a response only after it has sent everything, unless it uses `Expect:
    /// 100-continue`. For large bodies it does, so that a refusal costs no upload.
    RawResponse upload(String method, URI address, Map<String, String> headers, Body body) throws IOException {
        var source = new Source(body.bytes());
        var request = request(address, headers)
                .method(method, publisher(source, body.length()))
                .expectContinue(body.isLarge());
        return response(awaitProgress(http.sendAsync(request.build(), BodyHandlers.ofInputStream()), source));
    }

    private static HttpRequest.Builder request(URI address, Map<String, String> headers) {
        var request = HttpRequest.newBuilder(address);
        headers.forEach(request::header);
        return request;
    }

    /// With a known length, the server can refuse before it reads the content.
    private static BodyPublisher publisher(InputStream bytes, long length) {
        if (length == 0) {
            return BodyPublishers.noBody();
        }
        var published = BodyPublishers.ofInputStream(() -> bytes);
        return length < 0 ? published : BodyPublishers.fromPublisher(published, length);
    }

    private RawResponse response(HttpResponse<InputStream> received) {
        return new RawResponse.ByClient(received, new BodyStream(received.body(), silence));
    }

    private HttpResponse<InputStream> awaitProgress(CompletableFuture<HttpResponse<InputStream>> sent, Source source)
            throws IOException {
        long before = -1;
        while (true) {
            try {
                return sent.get(silence.toNanos(), TimeUnit.NANOSECONDS);
            } catch (TimeoutException _) {
                if (source.taken() == before && !source.isReading()) {
                    sent.cancel(true);
                    throw new HttpTimeoutException("the server accepted no data for " + seconds(silence));
                }
                before = source.taken();
            } catch (ExecutionException e) {
                source.check();
                if (e.getCause() instanceof IOException cause) {
                    throw explained(cause);
                }
                throw new IllegalStateException(e);
            } catch (InterruptedException _) {
                sent.cancel(true);
                throw interrupted();
            }
        }
    }

    private IOException explained(IOException e) {
        return e instanceof HttpConnectTimeoutException
                ? new HttpTimeoutException("no connection within " + seconds(connect))
                : e;
    }

    static CancellationException interrupted() {
        Thread.currentThread().interrupt();
        return new CancellationException("interrupted while waiting for the server");
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
