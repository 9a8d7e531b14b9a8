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
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/// Every open stream ends soon after its caller has lost the right to it, whatever gave the right.
@Timeout(120)
class LostRightTest {
    /// The server promises one second. A busy machine may add some, but less than the period of the server's own
    /// repeated check, which must not be what ends a stream.
    private static final Duration SOON = Duration.ofSeconds(10);

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

    /// Ways to get a right and to lose it.
    private enum Opener {
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
        boolean isFor(Opener opener) {
            return switch (this) {
                case EXECUTE, FEED -> opener.isOwner();
                case FEED_SOCKET -> opener.isOwner() || opener == Opener.TOKEN;
                case PREVIEW_ANSWER, PREVIEW_TUNNEL -> opener != Opener.SESSION;
                default -> true;
            };
        }
    }

    static Stream<Arguments> matrix() {
        return Arrays.stream(Opener.values())
                .flatMap(opener -> Arrays.stream(Kind.values())
                        .filter(kind -> kind.isFor(opener))
                        .map(kind -> Arguments.of(opener, kind)));
    }

    @ParameterizedTest
    @MethodSource("matrix")
    void anOpenStreamEndsWhenItsRightIsLost(Opener opener, Kind kind) throws Exception {
        var right = right(opener);

        try (var stream = stream(kind, right)) {
            long before = System.nanoTime();
            right.lose.run();
            stream.awaitEnd();

            assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(SOON);
        }
    }

    /// Headers that prove a right, and how it is lost.
    private record Right(List<String> headers, Runnable lose) {
        String credential() {
            return headers.getFirst().substring("Authorization: Bearer ".length());
        }
    }

    private Right right(Opener opener) {
        return switch (opener) {
            case KEY -> {
                JsonFields key = key("owner");
                yield new Right(
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
                yield new Right(
                        List.of("Authorization: Bearer " + token.string("token")),
                        () -> check(owner.post(path + "/revoke", "{\"jti\":\"" + token.string("jti") + "\"}")));
            }
        };
    }

    private Right session(String key) {
        String ours = SERVER.get().uri().toString();
        var signedIn = Api.send(browser("/console/session", ours)
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString("{\"key\":\"" + key + "\"}")));
        check(signedIn);
        String cookie =
                signedIn.headers().firstValue("Set-Cookie").orElseThrow().split(";")[0];
        return new Right(
                List.of("Cookie: " + cookie, "Origin: " + ours),
                () -> check(Api.send(browser("/console/session", ours)
                        .header("Cookie", cookie)
                        .DELETE())));
    }

    private static HttpRequest.Builder browser(String path, String origin) {
        return HttpRequest.newBuilder(SERVER.get().uri().resolve(path)).header("Origin", origin);
    }

    private Right member(Runnable lose) {
        invite("fs:ro\",\"shell\",\"process");
        return new Right(List.of("Authorization: Bearer " + key("guest").string("key")), lose);
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

    /// Something that stays open until the server ends it.
    private interface Open extends AutoCloseable {
        void awaitEnd() throws IOException;

        @Override
        void close() throws IOException;
    }

    private Open stream(Kind kind, Right right) throws IOException {
        String data = "/sandboxes/" + sandbox;
        String api = "/api/v1/sandboxes/" + sandbox;
        return switch (kind) {
            case EXEC -> running(http("POST", data + "/exec", right, WAIT.formatted("")));
            case EXEC_STREAM -> begun(http("POST", data + "/exec", lines(right), WAIT.formatted("")));
            case EXECUTE ->
                running(http("POST", "/execute", right, WAIT.formatted(",\"session_id\":\"" + sandbox + "\"")));
            case PROCESS_OUTPUT -> begun(http("GET", data + "/processes/" + detached() + "/output", lines(right), ""));
            case DOWNLOAD -> {
                owner.execute(sandbox, "truncate -s " + BIG_BYTES + " " + BIG_FILE);
                yield begun(http("GET", data + "/files/" + BIG_FILE, right, ""));
            }
            case EVENT_STREAM -> begun(http("GET", api + "/events", lines(right), ""));
            case FEED -> begun(http("GET", "/api/v1/events", lines(right), ""));
            case LONG_POLL -> http("GET", api + "/messages?wait=60", right, "");
            case SHELL_SOCKET -> socket(data + "/shell", right, "auth_ok");
            case EVENT_SOCKET -> socket("/ws/sandboxes/" + sandbox, right, "connected");
            case FEED_SOCKET -> socket("/api/v1/ws/events", right, "connected");
            case PREVIEW_ANSWER -> begun(http("GET", program().prefix() + "/events", right, ""));
            case PREVIEW_TUNNEL -> begun(http("GET", program().prefix() + "/raw", tunnel(right), ""));
        };
    }

    private Program program() {
        return Program.start(SERVER.get(), sandbox, "program.py", "python3 program.py");
    }

    private String detached() {
        return owner.post("/sandboxes/" + sandbox + "/exec", WAIT.formatted(",\"detach\":true"))
                .json()
                .string("process_id");
    }

    private static Right lines(Right right) {
        return with(right, "Accept: application/x-ndjson");
    }

    private static Right tunnel(Right right) {
        return with(right, "Connection: Upgrade", "Upgrade: raw");
    }

    private static Right with(Right right, String... headers) {
        return new Right(
                Stream.concat(right.headers.stream(), Stream.of(headers)).toList(), right.lose);
    }

    private Answer running(Answer answer) {
        awaitRunning();
        return answer;
    }

    private void awaitRunning() {
        await().until(() ->
                owner.get("/sandboxes/" + sandbox + "/processes").text().contains("sleep 300"));
    }

    private static Answer begun(Answer answer) throws IOException {
        answer.awaitHead();
        return answer;
    }

    private static Answer http(String method, String path, Right right, String body) throws IOException {
        var server = SERVER.get().uri();
        var socket = new Socket(server.getHost(), server.getPort());
        socket.setSoTimeout(60_000);
        String type = body.isEmpty() ? "" : "Content-Type: application/json\r\n";
        String request = method + " " + path + " HTTP/1.1\r\nHost: " + server.getAuthority() + "\r\n"
                + String.join("\r\n", right.headers) + "\r\n" + type + "Content-Length: " + body.length() + "\r\n\r\n"
                + body;
        socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
        return new Answer(socket);
    }

    /// An answer as bytes on a connection.
    private record Answer(Socket socket) implements Open {
        void awaitHead() throws IOException {
            var head = new StringBuilder();
            while (head.indexOf("\r\n\r\n") < 0) {
                int next = socket.getInputStream().read();
                assertThat(next).as(head.toString()).isNotNegative();
                head.append((char) next);
            }
            assertThat(head.substring(9, 12)).isIn("200", "101");
        }

        /// A connection that ends, or an answer that the server completed with a reason.
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

    private static Open socket(String path, Right right, String greeting) {
        boolean isBrowser = right.headers.getFirst().startsWith("Cookie");
        String[] headers = isBrowser
                ? right.headers.stream()
                        .flatMap(header -> Stream.of(header.split(": ", 2)))
                        .toArray(String[]::new)
                : new String[0];
        var client = ShellClient.open(SERVER.get().uri(), path, ShellClient.Reading.ALWAYS, headers);
        var greeted = isBrowser ? client.send("{\"type\":\"auth\"}") : client.auth(right.credential(), "");
        greeted.await(greeting);
        return new Open() {
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
