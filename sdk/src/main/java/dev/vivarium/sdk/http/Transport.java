package dev.vivarium.sdk.http;

import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.UserId;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.UnknownHostException;
import java.net.http.HttpTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import tools.jackson.core.JsonGenerator;

/// HTTP calls to one address with one credential. Thread-safe.
public final class Transport {
    private final URI base;
    private final String credential;
    private final Sender sender;
    private final Optional<UserId> owner;

    public Transport(URI base, String credential) {
        this(base, credential, new UrlConnectionSender(), Optional.empty());
    }

    Transport(URI base, String credential, Sender sender) {
        this(base, credential, sender, Optional.empty());
    }

    private Transport(URI base, String credential, Sender sender, Optional<UserId> owner) {
        this.base = base;
        this.credential = credential;
        this.sender = sender;
        this.owner = owner;
    }

    /// Returns a transport whose calls of `/threads/…` name this owner of the thread.
    public Transport withOwner(UserId wanted) {
        return new Transport(base, credential, sender, Optional.of(wanted));
    }

    /// Body of a request, read once; `length` is -1 if unknown. Confined to one thread.
    public record Body(String type, InputStream bytes, long length) {
        static final int SMALL = 64 * 1024;

        public static Body json(Consumer<JsonGenerator> fields) {
            return json(Json.bytes(fields));
        }

        /// @param object a JSON object
        public static Body json(String object) {
            return json(object.getBytes(StandardCharsets.UTF_8));
        }

        private static Body json(byte[] bytes) {
            return new Body("application/json", new ByteArrayInputStream(bytes), bytes.length);
        }

        public static Body of(InputStream bytes, long length) {
            return new Body("application/octet-stream", bytes, length);
        }

        public static Body none() {
            return new Body("", InputStream.nullInputStream(), 0);
        }

        boolean isLarge() {
            return length < 0 || length > SMALL;
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

    public <T> T patch(String path, Consumer<JsonGenerator> fields, Function<JsonFields, T> codec) {
        return send("PATCH", path, Map.of(), Body.json(fields)).read(codec);
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
        try {
            return new Response(base, sender.send(method, URI.create(base + named(path)), all, body));
        } catch (IOException e) {
            throw failure(base, e);
        }
    }

    private String named(String path) {
        if (owner.isEmpty() || !path.startsWith("/threads/")) {
            return path;
        }
        return path + (path.contains("?") ? "&" : "?") + "owner="
                + segment(owner.get().value());
    }

    /// Distinguishes an interrupt of the caller from a failure of the server.
    static RuntimeException failure(URI server, IOException e) {
        if (e instanceof InterruptedIOException && Thread.currentThread().isInterrupted()) {
            return HttpClientSender.interrupted();
        }
        String why = switch (e) {
            case UnknownHostException _ -> "its host is unknown";
            case ConnectException _ when isUnresolved(e) -> "its host is unknown";
            case ConnectException _ -> "the connection was refused";
            case SocketTimeoutException _ -> "the request timed out";
            case HttpTimeoutException _ -> messageOf(e);
            default -> "the connection broke (" + messageOf(e) + ")";
        };
        return new SandboxException(new Failure.ServerUnreachable(server.toString(), why), e);
    }

    private static boolean isUnresolved(Throwable e) {
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            if (cause instanceof UnresolvedAddressException) {
                return true;
            }
        }
        return false;
    }

    private static String messageOf(Throwable e) {
        return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
    }

    /// Percent-encodes one segment of a path, or a value of a query.
    public static String segment(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    /// Percent-encodes a path of several segments and keeps its slashes.
    public static String path(String text) {
        return segment(text).replace("%2F", "/");
    }
}
