package dev.vivarium.sdk.http;

import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ConnectException;
import java.net.HttpRetryException;
import java.net.HttpURLConnection;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import tools.jackson.core.JsonGenerator;

/// HTTP calls to one address with one credential. Uses `HttpURLConnection`, because `java.net.http` takes longer to
/// load than most commands take to run; large uploads use [LargeUpload]. Thread-safe.
public final class Transport {
    static final Duration CONNECT = Duration.ofSeconds(5);
    /// Read timeout. The server sends keep-alive lines on idle streams.
    static final Duration SILENCE = Duration.ofSeconds(90);

    private static final int SMALL_BODY = 64 * 1024;

    static {
        // The server may have processed a call whose connection broke, so the JDK must not repeat it.
        System.setProperty("sun.net.http.retryPost", "false");
    }

    private final URI base;
    private final String credential;

    public Transport(URI base, String credential) {
        this.base = base;
        this.credential = credential;
    }

    /// Body of a request, read once; `length` is -1 if unknown. Confined to one thread.
    public record Body(String type, InputStream bytes, long length) {
        public static Body json(Consumer<JsonGenerator> fields) {
            byte[] bytes = Json.bytes(fields);
            return new Body("application/json", new ByteArrayInputStream(bytes), bytes.length);
        }

        public static Body of(InputStream bytes, long length) {
            return new Body("application/octet-stream", bytes, length);
        }

        public static Body none() {
            return new Body("", InputStream.nullInputStream(), 0);
        }
    }

    public URI base() {
        return base;
    }

    public <T> T get(String path, Function<JsonFields, T> codec) {
        return send("GET", path, Map.of(), Body.none()).read(codec);
    }

    public <T> T post(String path, Consumer<JsonGenerator> fields, Function<JsonFields, T> codec) {
        return send("POST", path, Map.of(), Body.json(fields)).read(codec);
    }

    public void delete(String path) {
        send("DELETE", path, Map.of(), Body.none()).requireSuccess().close();
    }

    public <T> T put(String path, Consumer<JsonGenerator> fields, Function<JsonFields, T> codec) {
        return send("PUT", path, Map.of(), Body.json(fields)).read(codec);
    }

    /// Sends a request and waits for the status line. The caller reads the response to its end or closes it.
    public Response send(String method, String path, Map<String, String> headers, Body body) {
        var all = new HashMap<String, String>();
        all.put("Authorization", "Bearer " + credential);
        all.put("Accept", "application/json, */*;q=0.5");
        if (!body.type().isEmpty()) {
            all.put("Content-Type", body.type());
        }
        all.putAll(headers);
        URI address = URI.create(base + path);
        try {
            boolean large = method.equals("PUT") && (body.length() < 0 || body.length() > SMALL_BODY);
            return new Response(
                    base, large ? LargeUpload.send(address, method, all, body) : exchange(address, method, all, body));
        } catch (IOException e) {
            throw failed(e);
        }
    }

    private static RawResponse exchange(URI address, String method, Map<String, String> headers, Body body)
            throws IOException {
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
            call.setChunkedStreamingMode(SMALL_BODY);
        } else if (body.length() > SMALL_BODY) {
            call.setFixedLengthStreamingMode(body.length());
        }
        try (InputStream bytes = body.bytes();
                OutputStream out = call.getOutputStream()) {
            copy(bytes, out);
        }
    }

    /// Flushes every chunk, because the source may be a keyboard.
    private static void copy(InputStream bytes, OutputStream out) throws IOException {
        var piece = new byte[SMALL_BODY];
        for (int count = bytes.read(piece); count >= 0; count = bytes.read(piece)) {
            out.write(piece, 0, count);
            out.flush();
        }
    }

    private SandboxException failed(IOException e) {
        return failure(base, e);
    }

    static SandboxException failure(URI server, IOException e) {
        String why = switch (e) {
            case UnknownHostException _ -> "its host is unknown";
            case ConnectException _ -> "the connection was refused";
            case SocketTimeoutException _ -> "the request timed out";
            default ->
                "the connection broke ("
                        + (e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage()) + ")";
        };
        return new SandboxException(new Failure.ServerUnreachable(server.toString(), why), e);
    }

    /// Percent-encodes one segment of a path.
    public static String segment(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    /// Percent-encodes a path of several segments and keeps its slashes.
    public static String path(String text) {
        return segment(text).replace("%2F", "/");
    }
}
