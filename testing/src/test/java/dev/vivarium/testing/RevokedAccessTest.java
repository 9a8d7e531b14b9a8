package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.json.JsonFields;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/// Every open stream ends soon after its caller loses access, for each kind of credential.
@Timeout(120)
class RevokedAccessTest {
    /// The server promises one second. A busy host may add some, but less than the period of the server's repeated
    /// check, which must not be the cause of the end.
    private static final Duration MAX_DELAY = Duration.ofSeconds(10);

    private static final String BIG_FILE = "big";
    private static final long BIG_BYTES = 200L * 1024 * 1024;
    private static final String WAIT = "{\"command\":\"sleep 300\"%s}";

    @RegisterExtension
    static final SharedServer SERVER = SharedServer.with();

    private final Api admin = SERVER.api();
    private final String thread = Api.thread();
    private Api owner = admin;
    private String sandbox = "";

    @BeforeEach
    void open() {
        owner = admin.as("owner");
        sandbox = owner.post("/create_session", "{\"user_id\":\"owner\",\"thread_id\":\"" + thread + "\"}")
                .json()
                .string("session_id");
    }

    @AfterEach
    void end() {
        owner.method("DELETE", "/threads/" + thread);
    }

    /// Ways to gain and lose access.
    private enum Credential {
        KEY,
        SESSION,
        MEMBER_REMOVED,
        MEMBER_REDUCED,
        TOKEN;

        boolean isOwner() {
            return this == KEY || this == SESSION;
        }
    }

    private enum Kind {
        EXEC,
        EXEC_STREAM,
        EXECUTE,
        PROCESS_OUTPUT,
        DOWNLOAD,
        EVENT_STREAM,
        FEED,
        LONG_POLL,
        SHELL_SOCKET,
        EVENT_SOCKET,
        FEED_SOCKET,
        PREVIEW_ANSWER,
        PREVIEW_TUNNEL;

        /// Some routes are for the owner alone, or stay open and show less.
        boolean accepts(Credential credential) {
            return switch (this) {
                case EXECUTE, FEED -> credential.isOwner();
                case FEED_SOCKET -> credential.isOwner() || credential == Credential.TOKEN;
                case PREVIEW_ANSWER, PREVIEW_TUNNEL -> credential != Credential.SESSION;
                default -> true;
            };
        }
    }

    static Stream<Arguments> matrix() {
        return Arrays.stream(Credential.values())
                .flatMap(credential -> Arrays.stream(Kind.values())
                        .filter(kind -> kind.accepts(credential))
                        .map(kind -> Arguments.of(credential, kind)));
    }

    @ParameterizedTest
    @MethodSource("matrix")
    void openStreamEndsWhenAccessIsRevoked(Credential credential, Kind kind) throws Exception {
        var access = access(credential);

        try (var stream = stream(kind, access)) {
            long before = System.nanoTime();
            access.revoke.run();
            stream.awaitEnd();

            assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(MAX_DELAY);
        }
    }

    @Test
    void openStreamEndsWhenItsKeyExpires() throws Exception {
        // Long enough for a busy host to open the stream.
        Instant expiry = Instant.now().plusSeconds(15);
        String body = "{\"user_id\":\"owner\",\"expires_at\":\"" + expiry + "\"}";
        String key = admin.post("/admin/keys", body).json().string("key");
        var access = new Access(List.of("Authorization: Bearer " + key), () -> {});

        try (var stream = stream(Kind.EVENT_STREAM, access)) {
            stream.awaitEnd();
        }

        assertThat(Instant.now()).isAfterOrEqualTo(expiry);
        var refused = admin.with(key).get("/threads");
        assertThat(refused.status()).isEqualTo(401);
        assertThat(refused.text()).contains("the API key expired at ");
    }

    /// Headers that authenticate, and the action that revokes the access.
    private record Access(List<String> headers, Runnable revoke) {
        String secret() {
            return headers.getFirst().substring("Authorization: Bearer ".length());
        }
    }

    private Access access(Credential credential) {
        return switch (credential) {
            case KEY -> {
                JsonFields key = key("owner");
                yield new Access(
                        List.of("Authorization: Bearer " + key.string("key")),
                        () -> check(admin.method("DELETE", "/admin/keys/" + key.string("key_id"))));
            }
            case SESSION -> session(key("owner").string("key"));
            case MEMBER_REMOVED -> member(() -> check(owner.method("DELETE", "/threads/" + thread + "/members/guest")));
            case MEMBER_REDUCED -> member(() -> invite("snapshot"));
            case TOKEN -> {
                String path = "/threads/" + thread + "/sandbox";
                JsonFields token = owner.post(path, "{\"scopes\":[\"fs:ro\",\"shell\",\"process\"]}")
                        .json();
                yield new Access(
                        List.of("Authorization: Bearer " + token.string("token")),
                        () -> check(owner.post(path + "/revoke", "{\"jti\":\"" + token.string("jti") + "\"}")));
            }
        };
    }

    private Access session(String key) {
        String ownOrigin = SERVER.get().uri().toString();
        var signedIn = Api.send(browser("/console/session", ownOrigin)
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString("{\"key\":\"" + key + "\"}")));
        check(signedIn);
        String cookie =
                signedIn.headers().firstValue("Set-Cookie").orElseThrow().split(";")[0];
        return new Access(
                List.of("Cookie: " + cookie, "Origin: " + ownOrigin),
                () -> check(Api.send(browser("/console/session", ownOrigin)
                        .header("Cookie", cookie)
                        .DELETE())));
    }

    private static HttpRequest.Builder browser(String path, String origin) {
        return HttpRequest.newBuilder(SERVER.get().uri().resolve(path)).header("Origin", origin);
    }

    private Access member(Runnable revoke) {
        invite("fs:ro\",\"shell\",\"process");
        return new Access(List.of("Authorization: Bearer " + key("guest").string("key")), revoke);
    }

    private void invite(String scopes) {
        check(owner.post("/threads/" + thread + "/members", "{\"user_id\":\"guest\",\"scopes\":[\"" + scopes + "\"]}"));
    }

    private JsonFields key(String user) {
        return admin.post("/admin/keys", "{\"user_id\":\"" + user + "\"}").json();
    }

    private static void check(Api.Answer answer) {
        assertThat(answer.status()).as(answer.text()).isLessThan(300);
    }

    /// A connection that stays open until the server ends it.
    private interface OpenStream extends AutoCloseable {
        void awaitEnd() throws IOException;

        @Override
        void close() throws IOException;
    }

    private OpenStream stream(Kind kind, Access access) throws IOException {
        String data = "/sandboxes/" + sandbox;
        String api = "/api/v1/sandboxes/" + sandbox;
        return switch (kind) {
            case EXEC -> whenRunning(http("POST", data + "/exec", access, WAIT.formatted("")));
            case EXEC_STREAM -> whenStarted(http("POST", data + "/exec", lines(access), WAIT.formatted("")));
            case EXECUTE ->
                whenRunning(http("POST", "/execute", access, WAIT.formatted(",\"session_id\":\"" + sandbox + "\"")));
            case PROCESS_OUTPUT ->
                whenStarted(http("GET", data + "/processes/" + startDetached() + "/output", lines(access), ""));
            case DOWNLOAD -> {
                owner.execute(sandbox, "truncate -s " + BIG_BYTES + " " + BIG_FILE);
                yield whenStarted(http("GET", data + "/files/" + BIG_FILE, access, ""));
            }
            case EVENT_STREAM -> whenStarted(http("GET", api + "/events", lines(access), ""));
            case FEED -> whenStarted(http("GET", "/api/v1/events", lines(access), ""));
            case LONG_POLL -> http("GET", api + "/messages?wait=60", access, "");
            case SHELL_SOCKET -> socket(data + "/shell", access, "auth_ok");
            case EVENT_SOCKET -> socket("/ws/sandboxes/" + sandbox, access, "connected");
            case FEED_SOCKET -> socket("/api/v1/ws/events", access, "connected");
            case PREVIEW_ANSWER -> whenStarted(http("GET", program().prefix() + "/events", access, ""));
            case PREVIEW_TUNNEL -> whenStarted(http("GET", program().prefix() + "/raw", tunnel(access), ""));
        };
    }

    private Program program() {
        return Program.start(SERVER.get(), sandbox, "program.py", "python3 program.py");
    }

    private String startDetached() {
        return owner.post("/sandboxes/" + sandbox + "/exec", WAIT.formatted(",\"detach\":true"))
                .json()
                .string("process_id");
    }

    private static Access lines(Access access) {
        return with(access, "Accept: application/x-ndjson");
    }

    private static Access tunnel(Access access) {
        return with(access, "Connection: Upgrade", "Upgrade: raw");
    }

    private static Access with(Access access, String... headers) {
        return new Access(
                Stream.concat(access.headers.stream(), Stream.of(headers)).toList(), access.revoke);
    }

    private Answer whenRunning(Answer answer) {
        awaitRunning();
        return answer;
    }

    private void awaitRunning() {
        await().until(() ->
                owner.get("/sandboxes/" + sandbox + "/processes").text().contains("sleep 300"));
    }

    private static Answer whenStarted(Answer answer) throws IOException {
        answer.awaitHead();
        return answer;
    }

    private static Answer http(String method, String path, Access access, String body) throws IOException {
        var server = SERVER.get().uri();
        var socket = new Socket(server.getHost(), server.getPort());
        socket.setSoTimeout(60_000);
        String type = body.isEmpty() ? "" : "Content-Type: application/json\r\n";
        String request = method + " " + path + " HTTP/1.1\r\nHost: " + server.getAuthority() + "\r\n"
                + String.join("\r\n", access.headers) + "\r\n" + type + "Content-Length: " + body.length() + "\r\n\r\n"
                + body;
        socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
        return new Answer(socket);
    }

    /// A response as bytes on a connection.
    private record Answer(Socket socket) implements OpenStream {
        void awaitHead() throws IOException {
            var head = new StringBuilder();
            while (head.indexOf("\r\n\r\n") < 0) {
                int next = socket.getInputStream().read();
                assertThat(next).as(head.toString()).isNotNegative();
                head.append((char) next);
            }
            assertThat(head.substring(9, 12)).isIn("200", "101");
        }

        /// Waits for the end of the connection, or for a response that the server completed with a reason.
        @Override
        public void awaitEnd() throws IOException {
            byte[] buffer = new byte[64 * 1024];
            long total = 0;
            String tail = "";
            try {
                while (!tail.endsWith("0\r\n\r\n") && !tail.contains("HTTP/1.1 4")) {
                    int count = socket.getInputStream().read(buffer);
                    if (count < 0) {
                        break;
                    }
                    total += count;
                    tail = new String(buffer, 0, count, StandardCharsets.ISO_8859_1);
                }
            } catch (SocketException e) {
                // The server reset the connection.
            }
            assertThat(total).isLessThan(BIG_BYTES);
            assertThat(tail).doesNotContain("\"exit");
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    private static OpenStream socket(String path, Access access, String greeting) {
        boolean isBrowser = access.headers.getFirst().startsWith("Cookie");
        String[] headers = isBrowser
                ? access.headers.stream()
                        .flatMap(header -> Stream.of(header.split(": ", 2)))
                        .toArray(String[]::new)
                : new String[0];
        var client = ShellClient.open(SERVER.get().uri(), path, ShellClient.Reading.ALWAYS, headers);
        var authenticated = isBrowser ? client.send("{\"type\":\"auth\"}") : client.auth(access.secret(), "");
        authenticated.await(greeting);
        return new OpenStream() {
            @Override
            public void awaitEnd() {
                assertThat(client.awaitClose()).isIn(4401, 4403, 4404);
            }

            @Override
            public void close() {
                client.close();
            }
        };
    }
}
