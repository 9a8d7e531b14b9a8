package dev.vivarium.sdk.http;

import dev.vivarium.sdk.http.Transport.Body;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpRetryException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.time.Duration;
import java.util.Map;

/// Sender with `HttpURLConnection`, because `java.net.http` takes longer to load than most commands take to run. Files
/// that are large go through [HttpClientSender], because `HttpURLConnection` discards the body of a refusal. So do
/// requests with PATCH, which `HttpURLConnection` does not support. Stateless.
final class UrlConnectionSender implements Sender {
    private static final Duration CONNECT = Duration.ofSeconds(5);
    /// Read timeout. The server sends keep-alive lines on idle streams.
    private static final Duration SILENCE = Duration.ofSeconds(90);

    static {
        // The server may have processed a call whose connection broke, so the JDK must not repeat it.
        System.setProperty("sun.net.http.retryPost", "false");
    }

    /// Loaded by the first request that needs it, and shared, so that connections are reused.
    private static final class Shared {
        private static final HttpClientSender CLIENT = new HttpClientSender(CONNECT, SILENCE);
    }

    @Override
    public RawResponse send(String method, URI address, Map<String, String> headers, Body body) throws IOException {
        if (method.equals("PATCH") || (method.equals("PUT") && body.isLarge())) {
            return Shared.CLIENT.upload(method, address, headers, body);
        }
        var call = (HttpURLConnection) address.toURL().openConnection();
        call.setRequestMethod(method);
        call.setConnectTimeout((int) CONNECT.toMillis());
        call.setReadTimeout((int) SILENCE.toMillis());
        call.setInstanceFollowRedirects(false);
        call.setUseCaches(false);
        headers.forEach(call::setRequestProperty);
        try {
            if (body.length() != 0 || method.equals("POST") || method.equals("PUT")) {
                write(call, body);
            }
            return new RawResponse.ByConnection(call, call.getResponseCode());
        } catch (HttpRetryException e) {
            return new RawResponse.ByConnection(call, e.responseCode());
        }
    }

    private static void write(HttpURLConnection call, Body body) throws IOException {
        call.setDoOutput(true);
        if (body.length() < 0) {
            call.setChunkedStreamingMode(Body.SMALL);
        } else if (body.isLarge()) {
            call.setFixedLengthStreamingMode(body.length());
        }
        try (InputStream bytes = body.bytes();
                OutputStream out = call.getOutputStream()) {
            copy(bytes, out);
        }
    }

    /// Flushes every chunk, because the source may be a keyboard.
    private static void copy(InputStream bytes, OutputStream out) throws IOException {
        var piece = new byte[Body.SMALL];
        for (int count = bytes.read(piece); count >= 0; count = bytes.read(piece)) {
            out.write(piece, 0, count);
            out.flush();
        }
    }
}
