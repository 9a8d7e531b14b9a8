package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class BadHttpTest {
    private static TestServer server;
    private static Api api;

    @BeforeAll
    static void start() {
        server = TestServer.start();
        api = server.api();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    static Stream<String> jsonRoutes() {
        return Stream.of("/create_session", "/execute", "/download_file", "/cleanup", "/admin/keys");
    }

    static Stream<Arguments> badBodies() {
        var bodies = Stream.of(
                "",
                "{",
                "[]",
                "null",
                "\"x\"",
                "{} {}",
                "{\"session_id\":\"a\",\"session_id\":\"b\"}",
                "{\"session_id\":1,\"user_id\":1}",
                "{\"unknown\":1}",
                "{}",
                "{\"a\":" + "[".repeat(5000) + "]".repeat(5000) + "}",
                "{\"a\":" + "9".repeat(5000) + "}",
                "\uFEFF{}");
        return bodies.flatMap(body -> jsonRoutes().map(route -> Arguments.of(route, body)));
    }

    @ParameterizedTest
    @MethodSource("badBodies")
    void invalidBodyIsAProblemThatNamesTheField(String route, String body) {
        var answer = api.post(route, body);

        assertThat(answer.status()).isEqualTo(400);
        assertProblem(answer);
        assertThat(answer.json().string("field")).isNotBlank();
    }

    @ParameterizedTest
    @MethodSource("jsonRoutes")
    void bodyThatIsNotUtf8IsRejected(String route) {
        byte[] latin = "{\"session_id\":\"caf\u00e9\"}".getBytes(StandardCharsets.ISO_8859_1);

        assertThat(api.post(route, "application/json", BodyPublishers.ofByteArray(latin))
                        .status())
                .isEqualTo(400);
    }

    @ParameterizedTest
    @MethodSource("jsonRoutes")
    void oversizedBodyIsRejected(String route) {
        String huge = "{\"session_id\":\"" + "x".repeat(1024 * 1024) + "\"}";

        var withLength = api.post(route, huge);
        var chunked = api.post(
                route,
                "application/json",
                BodyPublishers.ofInputStream(
                        () -> new java.io.ByteArrayInputStream(huge.getBytes(StandardCharsets.UTF_8))));

        assertThat(withLength.status()).isEqualTo(413);
        assertThat(chunked.status()).isEqualTo(413);
        assertProblem(withLength);
    }

    @ParameterizedTest
    @MethodSource("jsonRoutes")
    void unsupportedMediaTypeIsRejected(String route) {
        assertThat(api.post(route, "text/plain", BodyPublishers.ofString("{}")).status())
                .isEqualTo(415);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/get_session",
                "/list_files",
                "/get_session?thread_id=",
                "/list_files?session_id=x&extra=1",
                "/get_session?thread_id=a&thread_id=b",
                "/get_session?thread_id=%ff",
                "/get_session?thread_id=%zz",
                "/list_files?session_id=x&recursive=maybe",
                "/health?x=%"
            })
    void invalidQueryIsRejected(String path) throws IOException {
        String answer = raw("GET " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + key() + "\r\n");

        assertThat(answer).startsWith("HTTP/1.1 400 ").contains("\"error\"");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/execute",
                "/metrics",
                "/nothing",
                "/admin/keys",
                "/health/",
                "//health",
                "/./health",
                "/health;a=b",
                "/%68ealth",
                "/health%2f..%2fexecute"
            })
    void requestWithoutAKeyIsUnauthorized(String path) throws IOException {
        String answer = raw("GET " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");

        assertThat(answer).startsWith("HTTP/1.1 401 ").containsIgnoringCase("WWW-Authenticate: Bearer");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "Authorization: Basic YTpi",
                "Authorization: Bearer",
                "Authorization: Bearer ",
                "Authorization: Bearer e2b_0000000000000000000000000000000000000000",
                "X-API-Key: wrong",
                "X-API-Key: ",
                "Authorization: KEY",
            })
    void invalidCredentialIsRejected(String header) throws IOException {
        String answer = raw("GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + header + "\r\n\r\n");

        assertThat(answer).startsWith("HTTP/1.1 401 ");
    }

    @Test
    void keyIsReadFromEitherHeaderButTwoMustMatch() throws IOException {
        String key = server.adminKey();

        assertThat(status("authorization: bearer " + key)).isEqualTo("200");
        assertThat(status("x-api-key: " + key)).isEqualTo("200");
        assertThat(status("X-API-Key: " + key + "\r\nAuthorization: Bearer " + key))
                .isEqualTo("200");
        assertThat(status("X-API-Key: other\r\nAuthorization: Bearer " + key)).isEqualTo("401");
        assertThat(status("Authorization: Bearer " + key + "\r\nAuthorization: Bearer x"))
                .isEqualTo("401");
    }

    @Test
    void anUnknownPathIsAProblem() {
        var answer = api.get("/nothing/here");

        assertThat(answer.status()).isEqualTo(404);
        assertProblem(answer);
    }

    @ParameterizedTest
    @CsvSource({
        "GET, /execute, POST",
        "PUT, /admin/keys, 'GET, HEAD, POST'",
        "PATCH, /get_session, 'GET, HEAD'",
        "OPTIONS, /execute, POST",
        "FOO, /execute, POST",
        "DELETE, /health, 'GET, HEAD'",
    })
    void unsupportedMethodIsRejectedWithTheAllowedOnes(String method, String path, String allow) {
        var answer = api.method(method, path);

        assertThat(answer.status()).isEqualTo(405);
        assertThat(answer.headers().firstValue("Allow")).contains(allow);
        assertProblem(answer);
    }

    @Test
    void headReturnsNoBody() {
        var answer = api.method("HEAD", "/openapi.json");

        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.bytes()).isEmpty();
    }

    @Test
    void traceIsNotEchoed() throws IOException {
        String answer = raw("TRACE /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + key() + "\r\n");

        assertThat(answer).startsWith("HTTP/1.1 405 ").doesNotContain(server.adminKey());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "GET / HTTP/9.9 | 505",
                "GARBAGE | 400",
                "GET /health HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: 5\\r\\nContent-Length: 6 | 400",
                "POST /execute HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: 5\\r\\nTransfer-Encoding: chunked | 400",
                "POST /execute HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: -1 | 400",
                "POST /execute HTTP/1.1\\r\\nHost: x\\r\\nTransfer-Encoding: chunked, identity | 400",
                "GET /health HTTP/1.1\\r\\nHost: x\\r\\nX-A: b\\r\\n folded | 400",
                "GET /health HTTP/1.1 | 400",
                "GET /he\\u0000alth HTTP/1.1\\r\\nHost: x | 400",
            })
    void malformedHttpIsRejectedAsAProblem(String request, String status) throws IOException {
        String answer = raw(request.replace("\\r\\n", "\r\n").replace("\\u0000", "\u0000") + "\r\n\r\n");

        assertThat(answer).startsWith("HTTP/1.1 " + status).doesNotContain("<html", "\tat ");
        assertThat(answer).contains("\"error\"");
    }

    @Test
    void oversizedHeadersAndUrisAreRejected() throws IOException {
        String start = "GET /health HTTP/1.1\r\nHost: x\r\n";

        assertThat(raw(start + "X-A: " + "a".repeat(64 * 1024) + "\r\n\r\n")).startsWith("HTTP/1.1 431");
        assertThat(raw(start + "X-A: b\r\n".repeat(10_000) + "\r\n")).startsWith("HTTP/1.1 431");
        assertThat(raw("GET /" + "a".repeat(64 * 1024) + " HTTP/1.1\r\nHost: x\r\n\r\n"))
                .startsWith("HTTP/1.1 414");
    }

    @Test
    void everyResponseHasARequestId() {
        assertThat(api.get("/health").headers().firstValue("X-Request-Id").orElseThrow())
                .matches("[0-9a-f]{16}");
        assertThat(api.get("/nothing").headers().firstValue("X-Request-Id")).isPresent();
    }

    /// A request with the prefix of a key in the wrong case must not change the key of a later request on the same
    /// proxy connection.
    @ParameterizedTest
    @ValueSource(strings = {"Authorization: Bearer ", "X-API-Key: ", "Cookie: viv_session="})
    void secretKeepsItsCaseAfterASimilarHeaderOnTheConnection(String header) throws IOException {
        String secret = header.startsWith("Cookie") ? session() : server.adminKey();
        String start = "GET /console/session HTTP/1.1\r\nHost: x\r\n" + header;
        String wrongCase = start + swapCase(secret.substring(0, 12)) + "\r\n\r\n";

        assertThat(raw(wrongCase + start + secret + "\r\nConnection: close\r\n\r\n"))
                .startsWith("HTTP/1.1 401")
                .contains("HTTP/1.1 200");
    }

    private static String session() {
        String key = "{\"key\":\"" + server.adminKey() + "\"}";
        var answer = Api.send(HttpRequest.newBuilder(server.uri().resolve("/console/session"))
                .headers("Origin", server.uri().toString(), "Content-Type", "application/json")
                .POST(BodyPublishers.ofString(key)));
        return answer.headers().firstValue("Set-Cookie").orElseThrow().split("[=;]")[1];
    }

    private static String swapCase(String text) {
        return text.chars()
                .map(c -> Character.isUpperCase(c) ? Character.toLowerCase(c) : Character.toUpperCase(c))
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
    }

    private static void assertProblem(Api.Answer answer) {
        assertThat(answer.headers().firstValue("Content-Type")).contains("application/problem+json");
        var problem = answer.json();
        assertThat(problem.string("error")).isNotBlank();
        assertThat(problem.string("type")).startsWith("urn:vivarium:problem:");
        assertThat(problem.string("title")).isNotBlank();
        assertThat(problem.integer("status")).isEqualTo(answer.status());
        assertThat(problem.string("detail")).isNotBlank();
        assertThat(answer.text()).doesNotContain("\tat ", "Exception");
    }

    private static String status(String headers) throws IOException {
        return raw("GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + headers + "\r\n\r\n")
                .substring(9, 12);
    }

    private static String key() {
        return "X-API-Key: " + server.adminKey() + "\r\n";
    }

    private static String raw(String request) throws IOException {
        try (var socket = new Socket(server.uri().getHost(), server.uri().getPort())) {
            socket.setSoTimeout(30_000);
            socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
            socket.getOutputStream().flush();
            socket.shutdownOutput();
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
