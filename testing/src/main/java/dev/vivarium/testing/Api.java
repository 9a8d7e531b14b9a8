package dev.vivarium.testing;

import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/// Minimal client of the HTTP API: text in, status and text out. Thread-safe.
public final class Api {
    private static final HttpClient CLIENT = newClient();
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private final URI server;
    private final String key;

    public Api(URI server, String key) {
        this.server = server;
        this.key = key;
    }

    /// Response of the server.
    public record Answer(int status, HttpHeaders headers, byte[] bytes) {
        public String text() {
            return new String(bytes, StandardCharsets.UTF_8);
        }

        public JsonFields json() {
            return Json.answer(text());
        }
    }

    public String key() {
        return key;
    }

    /// Returns a client of the same server with another key.
    public Api with(String otherKey) {
        return new Api(server, otherKey);
    }

    /// Creates a key for a user and returns a client with it.
    public Api as(String user) {
        return with(post("/admin/keys", "{\"user_id\":\"" + user + "\"}").json().string("key"));
    }

    public Answer get(String path) {
        return send(request(path).GET());
    }

    public Answer post(String path, String json) {
        return post(path, "application/json", BodyPublishers.ofString(json));
    }

    public Answer put(String path, String json) {
        return send(request(path).header("Content-Type", "application/json").PUT(BodyPublishers.ofString(json)));
    }

    public Answer post(String path, String contentType, BodyPublisher body) {
        return send(request(path).header("Content-Type", contentType).POST(body));
    }

    public Answer method(String method, String path) {
        return send(request(path).method(method, BodyPublishers.noBody()));
    }

    /// Creates a session of a unique thread and returns its id.
    public String session() {
        return post("/create_session", "{\"user_id\":\"u\",\"thread_id\":\"" + thread() + "\"}")
                .json()
                .string("session_id");
    }

    /// Returns a unique thread name.
    public static String thread() {
        return "thread-" + Long.toHexString(ThreadLocalRandom.current().nextLong());
    }

    /// Makes a user a member of a thread of the caller.
    public void invite(String thread, String user, String... scopes) {
        byte[] body = Json.bytes(out -> {
            out.writeStringProperty("user_id", user);
            out.writeArrayPropertyStart("scopes");
            List.of(scopes).forEach(out::writeString);
            out.writeEndArray();
        });
        Answer answer = post("/threads/" + thread + "/members", "application/json", BodyPublishers.ofByteArray(body));
        if (answer.status() != 200) {
            throw new AssertionError(answer.text());
        }
    }

    /// Runs a command and waits for its result.
    public JsonFields execute(String session, String command) {
        return post("/execute", command(session, command)).json();
    }

    /// Returns the body of a request that runs a command.
    public static String command(String session, String command) {
        return command(session, command, "");
    }

    /// Returns the body with further fields, such as `"timeout": 1`.
    public static String command(String session, String command, String more) {
        String body = new String(
                Json.bytes(out -> {
                    out.writeStringProperty("session_id", session);
                    out.writeStringProperty("command", command);
                }),
                StandardCharsets.UTF_8);
        return more.isEmpty() ? body : body.substring(0, body.length() - 1) + "," + more + "}";
    }

    /// Uploads text as the file `filename`.
    public Answer upload(String session, String filename, String content) {
        return upload(
                form().field("session_id", session).field("filename", filename).file("own-name", content));
    }

    public Answer upload(Form form) {
        return post("/upload_file", form.contentType(), BodyPublishers.ofByteArray(form.end()));
    }

    public static Form form() {
        return new Form();
    }

    public Answer download(String session, String filename) {
        byte[] body = Json.bytes(out -> {
            out.writeStringProperty("session_id", session);
            out.writeStringProperty("filename", filename);
        });
        return post("/download_file", "application/json", BodyPublishers.ofByteArray(body));
    }

    /// Starts a command and returns its event stream.
    public InputStream stream(String body, String mediaType) {
        var request = request("/execute")
                .header("Content-Type", "application/json")
                .header("Accept", mediaType)
                .POST(BodyPublishers.ofString(body))
                .build();
        return exchange(request, BodyHandlers.ofInputStream()).body();
    }

    public HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(server.resolve(path)).timeout(TIMEOUT).header("Authorization", "Bearer " + key);
    }

    public static Answer send(HttpRequest.Builder request) {
        var response = exchange(request.build(), BodyHandlers.ofByteArray());
        return new Answer(response.statusCode(), response.headers(), response.body());
    }

    /// Sends a request on its own connection, because a reused connection may be about to close.
    public static Answer sendAlone(HttpRequest.Builder request) {
        try (var client = newClient()) {
            var response = exchange(client, request.build(), BodyHandlers.ofByteArray());
            return new Answer(response.statusCode(), response.headers(), response.body());
        }
    }

    private static HttpClient newClient() {
        return HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    }

    private static <T> HttpResponse<T> exchange(HttpRequest request, HttpResponse.BodyHandler<T> handler) {
        return exchange(CLIENT, request, handler);
    }

    private static <T> HttpResponse<T> exchange(
            HttpClient client, HttpRequest request, HttpResponse.BodyHandler<T> handler) {
        try {
            return client.send(request, handler);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
