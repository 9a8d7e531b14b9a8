package dev.vivarium.cli.remote;

import dev.vivarium.cli.remote.Http.Body;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// Calls whose body is too large to send in vain: the server is asked first. They stand on the JDK's newer client,
/// because the older one throws the reason of a refusal away; it takes longer to load, as a large body takes to send.
/// Confined to the worker that sends.
final class Upload {
    /// One client for all: it keeps its connections.
    private static final HttpClient CLIENT = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Http.CONNECT)
            .build();

    private final Body body;
    private volatile long lastSign = System.nanoTime();

    private Upload(Body body) {
        this.body = body;
    }

    static Received send(URI address, String method, Map<String, String> headers, Body body) throws IOException {
        var upload = new Upload(body);
        var request = HttpRequest.newBuilder(address).expectContinue(true).method(method, upload.publisher());
        headers.forEach(request::header);
        return new Received.ByClient(upload.await(CLIENT.sendAsync(request.build(), BodyHandlers.ofInputStream())));
    }

    private BodyPublisher publisher() {
        var bytes = BodyPublishers.ofInputStream(() -> new Watched(body.bytes()));
        return body.length() < 0 ? bytes : BodyPublishers.fromPublisher(bytes, body.length());
    }

    /// A request's own time limit would count the time that its body takes. This one counts silence, if the silence
    /// cannot be that of somebody who types.
    private HttpResponse<InputStream> await(CompletableFuture<HttpResponse<InputStream>> answer) throws IOException {
        try {
            while (true) {
                try {
                    return answer.get(1, TimeUnit.SECONDS);
                } catch (TimeoutException _) {
                    if (body.length() >= 0 && silence().compareTo(Http.SILENCE) > 0) {
                        throw new SocketTimeoutException();
                    }
                }
            }
        } catch (ExecutionException e) {
            throw e.getCause() instanceof IOException io ? io : new IOException(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw (IOException) new InterruptedIOException("interrupted").initCause(e);
        } finally {
            answer.cancel(true);
        }
    }

    private Duration silence() {
        return Duration.ofNanos(System.nanoTime() - lastSign);
    }

    /// Notes when somebody last wanted more.
    private final class Watched extends FilterInputStream {
        Watched(InputStream bytes) {
            super(bytes);
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            lastSign = System.nanoTime();
            return super.read(target, offset, length);
        }
    }
}
