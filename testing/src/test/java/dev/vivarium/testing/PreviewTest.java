package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.core.sandbox.PauseReason;
import dev.vivarium.model.UserId;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Previews of a port of a sandbox without network, below the API path and at a host of their own. Needs root.
@Tag("root")
@Timeout(120)
class PreviewTest {
    private static final PauseReason BY_USER = PauseReason.by(new UserId("ann"));

    private static TestServer server;
    private static Program program;

    @BeforeAll
    static void start() {
        server = TestServer.startIsolated("--wake-on-traffic", "off");
        program = Program.start(server);
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/headers",
                "/headers/a%2Fb/%2e%2e/c;p=1",
                "/headers/../x",
                "/headers//y",
                "/headers?x=1&x=2&y=%zz&z",
                "/headers/%ff",
                "/headers?",
            })
    void requestTargetReachesTheProgramUnchanged(String path) {
        String expected = path.equals("/headers?") ? "/headers" : path;

        assertThat(program.get(path).seen().string("line")).isEqualTo("GET " + expected + " HTTP/1.1");
        assertThat(program.getAtHost(path).seen().string("line")).isEqualTo("GET " + expected + " HTTP/1.1");
    }

    @Test
    void pathThatLooksLikeAHostReachesTheProgram() {
        assertThat(program.getAtHost("//evil.example/headers").seen().string("line"))
                .isEqualTo("GET //evil.example/headers HTTP/1.1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "PROPFIND"})
    void everyMethodIsForwarded(String method) {
        assertThat(program.ask(method, "/headers", "").seen().string("line")).startsWith(method + " /headers");
    }

    @Test
    void credentialsAndForgedHeadersAreNotForwarded() {
        var seen = seen(program.get(
                "/headers",
                "Authorization: Bearer " + program.key(),
                "Cookie: a=1; viv_preview=secret; viv_console=secret2; viv_in_mine=2",
                "X-Forwarded-For: 6.6.6.6",
                "X-Forwarded-Host: evil.example",
                "X-Real-IP: 6.6.6.6",
                "Forwarded: for=6.6.6.6",
                "Proxy-Authorization: Basic eA==",
                "TE: trailers",
                "X-Hop: 1",
                "Connection: X-Hop, X-Forwarded-Proto",
                "X-Kept: yes"));

        assertThat(seen)
                .doesNotContainKeys("authorization", "x-api-key", "forwarded", "x-real-ip", "te", "x-hop")
                .doesNotContainKey("proxy-authorization")
                .containsEntry("x-kept", "yes")
                .containsEntry("cookie", "mine=2")
                .containsEntry("connection", "close")
                .containsEntry("host", "localhost:" + program.port())
                .containsEntry("x-forwarded-for", "127.0.0.1")
                .containsEntry("x-forwarded-host", program.server().getAuthority())
                .containsEntry("x-forwarded-proto", "http")
                .containsEntry("x-forwarded-prefix", program.prefix());
        assertThat(seen.toString()).doesNotContain(program.key(), "secret", "6.6.6.6", "evil");
    }

    @Test
    void serverCookiesAreNotForwardedAtThePreviewHost() {
        var seen = seen(program.getAtHost("/headers", "Cookie: a=1; viv_preview=secret; viv_in_b=2; c=3"));

        assertThat(seen).containsEntry("cookie", "a=1; c=3").doesNotContainKey("x-forwarded-prefix");
    }

    @Test
    void originAndRefererAreRewrittenForTheProgram() {
        var seen = seen(program.getAtHost(
                "/headers", "Origin: http://" + program.host(), "Referer: http://" + program.host() + "/page?x=1"));

        assertThat(seen)
                .containsEntry("origin", "http://localhost:" + program.port())
                .containsEntry("referer", "http://localhost:" + program.port() + "/page?x=1");
        assertThat(seen(program.getAtHost("/headers", "Origin: http://evil.example")))
                .containsEntry("origin", "http://evil.example");
    }

    /// The address of a page that a form submits to may hold the token, and the browser sends that address as the
    /// referer.
    @Test
    void tokenIsRemovedFromTheReferer() {
        String inside = "http://localhost:" + program.port();
        assertThat(seen(program.getAtHost(
                        "/headers", "Referer: http://" + program.host() + "/page?viv_token=secret&x=1")))
                .containsEntry("referer", inside + "/page?x=1");
        assertThat(seen(program.getAtHost("/headers", "Referer: http://" + program.host() + "/?viv_token=secret")))
                .containsEntry("referer", inside + "/");
        assertThat(seen(program.getAtHost("/headers", "Referer: http://evil.example/?viv_token=secret")))
                .containsEntry("referer", "http://evil.example/");
    }

    @Test
    void authorizationOfTheProgramIsForwarded() {
        var seen = seen(program.get("/headers", "Authorization: Bearer of-the-program"));

        assertThat(seen).containsEntry("authorization", "Bearer of-the-program").doesNotContainKey("x-api-key");
    }

    @Test
    void bodiesAreForwardedWithLengthAndChunked() {
        assertThat(program.ask("POST", "/echo", "hello", "Content-Length: 5").body())
                .isEqualTo("hello");
        assertThat(program.ask("POST", "/echo", "", "Content-Length: 0").status())
                .isEqualTo(200);
        assertThat(program.ask("PUT", "/echo", "5\r\nhello\r\n7\r\n, world\r\n0\r\n\r\n", "Transfer-Encoding: chunked")
                        .body())
                .isEqualTo("hello, world");
    }

    @Test
    void programMayRespondBeforeReadingTheWholeBody() {
        var answer = program.ask("POST", "/early", "x".repeat(20_000_000), "Content-Length: 20000000");

        assertThat(answer.status()).isEqualTo(413);
        assertThat(answer.body()).isEqualTo("no!");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "Content-Length: 5\\r\\nTransfer-Encoding: chunked",
                "Content-Length: 5\\r\\nContent-Length: 6",
                "Transfer-Encoding: chunked, identity",
                "Transfer-Encoding: xchunked",
                "Content-Length: +5",
                "X-A: b\\r\\n folded",
            })
    void ambiguousRequestLengthIsRejected(String headers) {
        assertThat(program.ask("POST", "/echo", "0\r\n\r\n", headers.replace("\\r\\n", "\r\n"))
                        .status())
                .isEqualTo(400);
    }

    @Test
    void everyKindOfResponseIsForwarded() {
        assertThat(program.get("/until_close").body()).contains("until the end");
        assertThat(program.get("/interim").body()).isEqualTo("ok");
        assertThat(program.ask("HEAD", "/echo", "").status()).isEqualTo(200);
        var head = program.ask("HEAD", "/big?bytes=1000", "");
        assertThat(head.headers("Content-Length")).containsExactly("1000");
        assertThat(head.body()).isEmpty();
        var unchanged = program.get("/not_modified");
        assertThat(unchanged.status()).isEqualTo(304);
        assertThat(unchanged.headers("ETag")).containsExactly("\"a\"");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "rubbish",
                "nothing",
                "both_lengths",
                "two_lengths",
                "folded",
                "status_999",
                "unasked_upgrade",
                "endless_headers"
            })
    void malformedResponseIsABadGateway(String path) {
        var answer = program.get("/" + path);

        assertThat(answer.status()).as(answer.text()).isEqualTo(502);
        assertThat(answer.body()).contains("\"error\"", "bad-answer", "port " + program.port());
    }

    @Test
    void truncatedResponseIsNotTerminatedCleanly() {
        assertThat(program.get("/half").body().length()).isLessThan(100);
        assertThat(program.get("/bad_chunk").text()).doesNotContain("\r\n0\r\n\r\n");
    }

    @Test
    void silentProgramIsAGatewayTimeout() {
        try (var impatientServer = TestServer.startIsolated("--preview-idle-seconds", "3")) {
            var answer = Program.start(impatientServer).get("/silence");

            assertThat(answer.status()).isEqualTo(504);
            assertThat(answer.body()).contains("answer-timed-out", "sent nothing for 3 s");
        }
    }

    @Test
    void closedPortIsNamedInTheErrorWithARemedy() {
        var answer = program.send("GET /sandboxes/" + program.session() + "/ports/9/ HTTP/1.1\r\nHost: x\r\n"
                + program.auth() + "Connection: close\r\n\r\n");

        assertThat(answer.status()).isEqualTo(502);
        assertThat(answer.body()).contains("listens on port 9", "start the program");
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "65536", "abc", "-1", "03000", "99999999999", "%33000x", ""})
    void invalidPortIsRejected(String port) {
        assertThat(program.send("GET /sandboxes/" + program.session() + "/ports/" + port + "/ HTTP/1.1\r\nHost: x\r\n"
                                + program.auth() + "Connection: close\r\n\r\n")
                        .status())
                .isEqualTo(400);
        if (!port.contains("%") && !port.startsWith("-")) {
            assertThat(program.send("GET / HTTP/1.1\r\nHost: " + port + "-" + program.session() + ".localhost\r\n"
                                    + program.auth() + "Connection: close\r\n\r\n")
                            .status())
                    .isEqualTo(400);
        }
    }

    @Test
    void serverSentEventsAreForwardedImmediately() throws Exception {
        try (var socket = program.connect()) {
            String request = "GET " + program.prefix() + "/events HTTP/1.1\r\nHost: x\r\n" + program.auth() + "\r\n";
            socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
            var lines = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
            awaitLine(lines, "data: first");

            assertThat(program.get("/release").body()).isEqualTo("released");
            awaitLine(lines, "data: second");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "/next?a=1, PREFIX/next?a=1",
        "next, next",
        "http://localhost:PORT/next#f, PREFIX/next#f",
        "http://127.0.0.1:PORT, PREFIX/",
        "http://localhost:1/next, http://localhost:1/next",
        "https://example.com/x, https://example.com/x",
        "http://AUTHORITY/next, PREFIX/next",
        "http://AUTHORITYPREFIX/next, PREFIX/next",
        "//example.com/x, //example.com/x",
    })
    void redirectsAreRewrittenIntoThePreview(String to, String expected) {
        var answer = program.get("/redirect?to=" + java.net.URLEncoder.encode(filled(to), StandardCharsets.UTF_8));

        assertThat(answer.status()).isEqualTo(302);
        assertThat(answer.headers("Location")).containsExactly(filled(expected));
    }

    @Test
    void redirectKeepsItsPathAtThePreviewHost() {
        assertThat(program.getAtHost("/redirect?to=/next").headers("Location")).containsExactly("/next");
        assertThat(program.getAtHost("/redirect?to=http://localhost:" + program.port() + "/next")
                        .headers("Location"))
                .containsExactly("/next");
    }

    @Test
    void missingTrailingSlashIsRedirected() {
        var answer = program.get("?x=1");

        assertThat(answer.status()).isEqualTo(308);
        assertThat(answer.headers("Location"))
                .containsExactly("http://" + program.server().getAuthority() + program.prefix() + "/?x=1");
    }

    @Test
    void slashRedirectKeepsThePathEncoded() {
        String path = "/sandboxes/a%0d%0aSet-Cookie:%20x=1/ports/80";
        var answer = program.anonymous(path, program.server().getAuthority());

        assertThat(answer.status()).isEqualTo(308);
        assertThat(answer.headers("Location"))
                .containsExactly("http://" + program.server().getAuthority() + path + "/");
        assertThat(answer.headers("Set-Cookie")).isEmpty();
    }

    @Test
    void programCookiesAreConfinedToThePreview() {
        assertThat(program.get("/cookies").headers("Set-Cookie"))
                .containsExactly(
                        "viv_in_plain=1; Path=" + program.prefix() + "/",
                        "viv_in_deep=2; HttpOnly; SameSite=Lax; Path=" + program.prefix() + "/app");
        assertThat(program.getAtHost("/cookies").headers("Set-Cookie"))
                .containsExactly("plain=1; Path=/", "deep=2; HttpOnly; SameSite=Lax; Path=/app");
    }

    @Test
    void pageBelowTheApiIsSandboxedFromItsOrigin() {
        var answer = program.get("/overreach");

        assertThat(answer.headers("Content-Security-Policy"))
                .hasSize(2)
                .contains("default-src *")
                .anyMatch(policy -> policy.startsWith("sandbox ") && !policy.contains("allow-same-origin"));
        assertThat(answer.headers("X-Content-Type-Options")).containsExactly("nosniff");
        assertThat(answer.headers("Clear-Site-Data")).isEmpty();
        assertThat(answer.headers("Service-Worker-Allowed")).isEmpty();
        assertConfined(answer);
    }

    @Test
    void pageKeepsItsPolicyAtThePreviewHost() {
        var answer = program.getAtHost("/overreach");

        assertThat(answer.headers("Content-Security-Policy")).containsExactly("default-src *");
        assertConfined(answer);
    }

    private static void assertConfined(Program.Raw answer) {
        assertThat(answer.headers("X-Own")).containsExactly("kept");
        assertThat(answer.headers("Cache-Control")).containsExactly("no-store");
        assertThat(answer.headers("X-Request-Id")).hasSize(1).doesNotContain("mine");
        for (String name : new String[] {
            "X-Private", "Keep-Alive", "Expires", "Strict-Transport-Security", "Alt-Svc", "WWW-Authenticate"
        }) {
            assertThat(answer.headers(name)).as(name).isEmpty();
        }
    }

    @Test
    void apiPathsReachTheProgramAtThePreviewHost() {
        assertThat(program.getAtHost("/health").seen().string("line")).isEqualTo("GET /health HTTP/1.1");
        assertThat(program.getAtHost("/sandboxes/x/ports/1/").seen().string("line"))
                .isEqualTo("GET /sandboxes/x/ports/1/ HTTP/1.1");
    }

    @Test
    void pausedSandboxIsAConflictWithoutWakeOnTraffic() {
        var api = server.api();
        var other = Program.start(server);
        var sandbox = server.sandboxes().require(new dev.vivarium.model.SandboxId(other.session()));
        sandbox.pause(BY_USER);

        assertThat(other.get("/headers").status()).isEqualTo(409);
        assertThat(other.get("/headers").body()).contains("paused");
        sandbox.resume(BY_USER);
        assertThat(other.get("/headers").status()).isEqualTo(200);
        api.post("/cleanup", "{\"session_id\":\"" + other.session() + "\"}");
    }

    @Test
    void trafficWakesAPausedSandboxIfConfigured() {
        try (var waking = TestServer.startIsolated()) {
            var sleeper = Program.start(waking);
            var sandbox = waking.sandboxes().require(new dev.vivarium.model.SandboxId(sleeper.session()));
            sandbox.pause(BY_USER);

            assertThat(sleeper.get("/headers").status()).isEqualTo(200);
            assertThat(sandbox.info().status()).isEqualTo(dev.vivarium.model.Status.RUNNING);
        }
    }

    @Test
    void trafficUpdatesTheLastActivity() {
        var sandbox = server.sandboxes().require(new dev.vivarium.model.SandboxId(program.session()));
        var before = sandbox.info().lastActivity();

        program.get("/headers");

        assertThat(sandbox.info().lastActivity()).isAfter(before);
    }

    private static String filled(String text) {
        return text.replace("PREFIX", program.prefix())
                .replace("AUTHORITY", program.server().getAuthority())
                .replace("PORT", "" + program.port());
    }

    private static void awaitLine(BufferedReader lines, String wanted) throws java.io.IOException {
        for (String line = lines.readLine(); !line.equals(wanted); line = lines.readLine()) {
            // Skips the headers and the chunk framing.
        }
    }

    private static Map<String, String> seen(Program.Raw answer) {
        var seen = new TreeMap<String, String>();
        var text = answer.body();
        var matcher = java.util.regex.Pattern.compile("\\[\"([^\"]+)\", \"([^\"]*)\"\\]")
                .matcher(text);
        while (matcher.find()) {
            assertThat(seen.put(matcher.group(1), matcher.group(2)))
                    .as("%s is sent once", matcher.group(1))
                    .isNull();
        }
        return seen;
    }
}
