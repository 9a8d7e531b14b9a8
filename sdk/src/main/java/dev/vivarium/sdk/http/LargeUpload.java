package dev.vivarium.sdk.http;

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

/// Request with a large body and `Expect: 100-continue`, so that a refusal costs no upload. Uses `java.net.http`,
/// because `HttpURLConnection` discards the body of a refusal. Confined to one thread.
final class LargeUpload {
    /// Shared, so that connections are reused.
    private static final HttpClient CLIENT = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Transport.CONNECT)
            .build();

    private final Transport.Body body;
    private volatile long lastRead = System.nanoTime();

    private LargeUpload(Transport.Body body) {
        this.body = body;
    }

    static RawResponse send(URI address, String method, Map<String, String> headers, Transport.Body body)
            throws IOException {
        var upload = new LargeUpload(body);
        var request = HttpRequest.newBuilder(address).expectContinue(true).method(method, upload.publisher());
        headers.forEach(request::header);
        return new RawResponse.ByClient(upload.await(CLIENT.sendAsync(request.build(), BodyHandlers.ofInputStream())));
    }

    private BodyPublisher publisher() {
        var bytes = BodyPublishers.ofInputStream(() -> new TimedInputStream(body.bytes()));
        return body.length() < 0 ? bytes : BodyPublishers.fromPublisher(bytes, body.length());
    }

    /// Times out when the server stops reading. A timeout of the request would limit the whole upload. A body of
    /// unknown length has no timeout, because its source may be a keyboard.
    private HttpResponse<InputStream> await(CompletableFuture<HttpResponse<InputStream>> answer) throws IOException {
        try {
            while (true) {
                try {
                    return answer.get(1, TimeUnit.SECONDS);
                } catch (TimeoutException _) {
                    if (body.length() >= 0 && silence().compareTo(Transport.SILENCE) > 0) {
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
        return Duration.ofNanos(System.nanoTime() - lastRead);
    }

    /// Records the time of the last read.
    private final class TimedInputStream extends FilterInputStream {
        TimedInputStream(InputStream bytes) {
            super(bytes);
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            lastRead = System.nanoTime();
            return super.read(target, offset, length);
        }
    }
}
