package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.access.Scope;
import dev.vivarium.json.JsonFields;
import dev.vivarium.server.telemetry.Telemetry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Egress of isolated sandboxes through common programs. A test resolver maps every name to the loopback address of
/// the host, which the configuration of this server allows.
@Timeout(120)
class EgressApiTest {
    private static final String SECRET = "s3cret-0f-the-operator";
    private static final String INTERFACES = "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '";
    private static final Logger LOGGER = Logger.getLogger(Telemetry.class.getName());
    private static final Queue<String> RESOLVED = new ConcurrentLinkedQueue<>();
    private static final Queue<String> LINES = new ConcurrentLinkedQueue<>();
    private static final Handler COLLECTOR = new Handler() {
        @Override
        public void publish(LogRecord entry) {
            LINES.add(entry.getMessage());
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };

    @TempDir
    static Path directory;

    private static ExternalWebServer web;
    private static TestServer server;

    private Api anna;
    private String thread;

    @BeforeAll
    static void start() throws IOException {
        LOGGER.setLevel(Level.INFO);
        LOGGER.setUseParentHandlers(false);
        LOGGER.addHandler(COLLECTOR);
        web = new ExternalWebServer(directory)
                .on("/hello", exchange -> ExternalWebServer.respond(exchange, "hello".getBytes(StandardCharsets.UTF_8)))
                .on("/echo", ExternalWebServer::echo)
                .on("/away", exchange -> {
                    exchange.getResponseHeaders().add("Location", "http://169.254.169.254/latest/meta-data/");
                    exchange.sendResponseHeaders(302, -1);
                    exchange.close();
                })
                .on("/leak", exchange -> {
                    exchange.getResponseHeaders()
                            .add(
                                    "X-Leak",
                                    "you sent " + exchange.getRequestHeaders().getFirst("Authorization"));
                    ExternalWebServer.respond(exchange, new byte[0]);
                })
                .on("/large", EgressApiTest::large);
        server = TestServer.startIsolated(
                name -> {
                    RESOLVED.add(name);
                    return List.of(InetAddress.getLoopbackAddress());
                },
                "--egress-private",
                "127.0.0.1/32",
                "--egress-most",
                "*.test:*",
                "--egress-ca",
                web.certificate().toString(),
                "--egress-credentials",
                credentials().toString());
    }

    private static Path credentials() throws IOException {
        Path file = directory.resolve("credentials");
        Files.writeString(
                file,
                "# the API of the house\napi.test:" + web.securePort() + " Authorization Bearer " + SECRET + "\n");
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    }

    private static void large(com.sun.net.httpserver.HttpExchange exchange) throws IOException {
        try (exchange) {
            exchange.sendResponseHeaders(200, 0);
            var piece = new byte[1 << 20];
            for (int i = 0; i < 200; i++) {
                exchange.getResponseBody().write(piece);
            }
        }
    }

    @AfterAll
    static void stop() {
        server.close();
        web.close();
        LOGGER.removeHandler(COLLECTOR);
        LOGGER.setUseParentHandlers(true);
        LOGGER.setLevel(null);
    }

    @BeforeEach
    void createUserAndThread() {
        anna = server.api().as("anna-" + Api.thread());
        thread = Api.thread();
        RESOLVED.clear();
    }

    /// Creates the sandbox of this test's thread with these hosts on its allow-list.
    private String sandbox(String... hosts) {
        String egress = hosts.length == 0 ? "{}" : "{\"egress\":" + allow(hosts) + "}";
        var answer = anna.post("/threads/" + thread + "/sandbox", egress);
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        return answer.json().string("sandbox_id");
    }

    private static String allow(String... hosts) {
        return "{\"allow\":[\"" + String.join("\",\"", hosts) + "\"]}";
    }

    private Api.Answer change(String... hosts) {
        return anna.put("/threads/" + thread + "/egress", hosts.length == 0 ? "{\"allow\":[]}" : allow(hosts));
    }

    private String run(String sandbox, String command) {
        var result = anna.execute(sandbox, command);
        return result.string("stdout") + result.string("stderr");
    }

    private static String plain(String host) {
        return host + ":" + web.port();
    }

    private static String secure(String host) {
        return host + ":" + web.securePort();
    }

    private void trust(String sandbox) throws IOException {
        assertThat(anna.upload(sandbox, "ca.pem", Files.readString(web.certificate()))
                        .status())
                .isEqualTo(200);
    }

    private List<JsonFields> audited() {
        return anna.get("/threads/" + thread + "/audit?limit=1000").json().objects("entries").stream()
                .filter(entry -> entry.string("kind").equals("egress"))
                .toList();
    }

    @Test
    void sandboxHasNoNetworkByDefault() {
        String sandbox = sandbox();
        assertThat(run(sandbox, INTERFACES + "; env | grep -i _proxy")).isEqualTo("lo\n");
        assertThat(run(sandbox, "curl -sS -m 60 http://" + plain("good.test") + "/hello 2>&1; echo $?"))
                .endsWith("6\n");
        assertThat(run(sandbox, "getent hosts secret.evil.test; echo $?")).isEqualTo("2\n");
        assertThat(RESOLVED).isEmpty();
    }

    @Test
    void allowedHostIsReachableOverHttp() {
        String sandbox = sandbox(plain("good.test"));
        assertThat(run(sandbox, "curl -sS http://" + plain("good.test") + "/hello"))
                .isEqualTo("hello");
        assertThat(run(sandbox, INTERFACES)).isEqualTo("lo\n");
        assertThat(RESOLVED).containsExactly("good.test");
        assertThat(anna.get("/threads/" + thread + "/egress").json().optionalStrings("allow"))
                .contains(List.of(plain("good.test")));
    }

    @Test
    void curlAndPythonUseTlsEndToEnd() throws IOException {
        String sandbox = sandbox(secure("good.test"));
        trust(sandbox);
        String url = "https://" + secure("good.test") + "/hello";
        assertThat(run(sandbox, "curl -sS --cacert ca.pem " + url)).isEqualTo("hello");
        assertThat(run(sandbox, "curl -sS " + url + " 2>&1; echo $?")).endsWith("60\n");
        assertThat(run(
                        sandbox,
                        "/usr/bin/python3 -c 'import ssl, urllib.request as r;"
                                + " print(r.urlopen(\"" + url
                                + "\", context=ssl.create_default_context(cafile=\"ca.pem\")).read())'"))
                .isEqualTo("b'hello'\n");
    }

    @Test
    void gitClonesThroughTls() throws Exception {
        Path work = Files.createDirectories(directory.resolve("git-" + thread));
        host(
                work,
                "git init -q -b main repo && cd repo && git config user.email a@b && git config user.name a"
                        + " && echo content > file && git add . && git commit -qm first"
                        + " && git clone -q --bare . ../repo.git && cd ../repo.git && git update-server-info");
        web.on("/repo.git/", exchange -> {
            Path file = work.resolve(exchange.getRequestURI().getPath().substring(1))
                    .normalize();
            if (Files.isRegularFile(file)) {
                ExternalWebServer.respond(exchange, Files.readAllBytes(file));
            } else {
                exchange.sendResponseHeaders(404, -1);
                exchange.close();
            }
        });
        String sandbox = sandbox(secure("git.test"));
        trust(sandbox);
        assertThat(run(
                        sandbox,
                        "git -c http.sslCAInfo=/workspace/ca.pem clone -q https://" + secure("git.test")
                                + "/repo.git && cat repo/file"))
                .isEqualTo("content\n");
    }

    private static void host(Path directory, String script) throws Exception {
        Process process = new ProcessBuilder("sh", "-c", script)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
    }

    @Test
    void unlistedHostIsRejectedWithTheWayToAllowIt() throws IOException {
        String sandbox = sandbox("good.test");
        trust(sandbox);
        assertThat(run(sandbox, "curl -sS -w '%{http_code}' http://evil.test/"))
                .contains("evil.test:80 is not on the allow-list")
                .contains("/egress")
                .endsWith("403");
        assertThat(run(sandbox, "curl -sSv https://evil.test/")).contains("403 Host Not On The Egress Allow-List");
        assertThat(run(sandbox, "/usr/bin/python3 -c 'import urllib.request as r; r.urlopen(\"https://evil.test/\")'"))
                .contains("403 Host Not On The Egress Allow-List");
        assertThat(run(sandbox, "env -u http_proxy -u HTTP_PROXY curl -sS -m 60 http://good.test/ 2>&1; echo $?"))
                .as("without the proxy variables there is no network")
                .endsWith("6\n");
        assertThat(RESOLVED).isEmpty();
    }

    @Test
    void redirectToAnUnlistedHostIsRejected() {
        String sandbox = sandbox(plain("good.test"));
        assertThat(run(sandbox, "curl -sSL -o /dev/null -w '%{http_code}' http://" + plain("good.test") + "/away"))
                .endsWith("403");
        await().untilAsserted(() -> assertThat(audited())
                .anySatisfy(entry -> assertThat(entry.string("detail")).startsWith("host_refused 169.254.169.254:80")));
    }

    @Test
    void connectionIsLoggedAuditedAndCounted() {
        String sandbox = sandbox(plain("good.test"));
        run(sandbox, "curl -sS http://" + plain("good.test") + "/hello; curl -sS http://evil.test/");
        await().until(() -> audited().size() == 2);
        // The audit log may hold the rejected connection before the allowed connection has ended.
        JsonFields allowed = audited().stream()
                .filter(entry -> entry.string("detail").startsWith("allowed "))
                .findFirst()
                .orElseThrow();
        assertThat(allowed.string("detail"))
                .startsWith("allowed " + plain("good.test") + " at 127.0.0.1, ")
                .contains("bytes up", "down", " ms");
        assertThat(allowed.string("route")).isEqualTo("egress GET");
        assertThat(allowed.string("aud")).isEqualTo(sandbox);
        assertThat(audited())
                .extracting(entry -> entry.integer("outcome"))
                .filteredOn(outcome -> outcome == 403)
                .hasSize(1);
        await().untilAsserted(() -> assertThat(LINES)
                .anySatisfy(line -> assertThat(line)
                        .contains("event=egress", "host=good.test", "port=" + web.port(), "address=127.0.0.1")
                        .contains("verdict=allowed", "bytes_up=", "bytes_down=", "thread=" + thread.substring(0, 12))));
        await().untilAsserted(() -> assertThat(server.api().get("/metrics").text())
                .contains("vivarium_egress_connections_total{verdict=\"allowed\"}")
                .contains("vivarium_egress_bytes_total{direction=\"down\"}"));
    }

    @Test
    void credentialIsAddedByTheProxyAndHiddenFromTheSandbox() {
        String sandbox = sandbox(secure("api.test"));
        String echoed =
                run(sandbox, "curl -sS -H 'authorization: Bearer mine' -H 'AUTHORIZATION: other' http://api.test/echo");
        assertThat(echoed).contains("Authorization: Bearer " + SECRET).doesNotContain("mine", "other");
        assertThat(run(sandbox, "curl -sS http://" + secure("api.test") + "/hello"))
                .isEqualTo("hello");
        assertThat(run(sandbox, "curl -sSi http://api.test/leak"))
                .contains("200")
                .doesNotContain(SECRET);
        assertThat(run(sandbox, "curl -sS -X TRACE http://api.test/echo")).doesNotContain(SECRET);
        assertThat(run(sandbox, "env; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'"))
                .doesNotContain(SECRET);
        assertThat(anna.get("/threads/" + thread + "/audit?limit=1000").text()).doesNotContain(SECRET);
        assertThat(LINES).noneMatch(line -> line.contains(SECRET));
    }

    @Test
    void credentialIsSentOnlyToItsHostAndPort() {
        String sandbox = sandbox(plain("good.test"), plain("api.test"));
        assertThat(run(sandbox, "curl -sS http://" + plain("good.test") + "/echo"))
                .doesNotContain(SECRET);
        assertThat(run(sandbox, "curl -sS http://" + plain("api.test") + "/echo"))
                .as("another port is another server")
                .contains("GET")
                .doesNotContain(SECRET);
        assertThat(run(sandbox, "curl -sS -w '%{http_code}' http://api.test/echo"))
                .as("the allow-list applies to the upstream port of the credential")
                .endsWith("403");
    }

    @Test
    void onlyTheOwnersKeyChangesTheAllowListOfARunningSandbox() {
        String sandbox = sandbox();
        assertThat(change(plain("good.test")).status()).isEqualTo(200);
        assertThat(run(sandbox, "curl -sS http://" + plain("good.test") + "/hello"))
                .isEqualTo("hello");
        anna.post("/threads/" + thread + "/members", "{\"user_id\":\"bob\",\"scopes\":[\"process\"]}");
        String token = server.token(sandbox, Scope.values());
        Api bob = server.api().as("bob");
        String path = "/threads/" + thread + "/egress";
        assertThat(bob.put(path, "{\"allow\":[\"*.test\"]}").status()).isEqualTo(403);
        assertThat(bob.get(path).status()).isEqualTo(200);
        assertThat(anna.with(token).put(path, "{\"allow\":[\"*.test\"]}").status())
                .isIn(401, 403);
        assertThat(server.api().as("eve").put(path, "{\"allow\":[]}").status()).isEqualTo(404);
        assertThat(change().status()).isEqualTo(200);
        assertThat(run(sandbox, "env | grep -ci _proxy")).isEqualTo("0\n");
        assertThat(anna.get("/threads/" + thread + "/audit").text()).contains("\"kind\":\"allowed\"");
    }

    @Test
    void memberCannotSetTheAllowListOfAnotherUsersThread() {
        sandbox();
        anna.post("/threads/" + thread + "/members", "{\"user_id\":\"bob\",\"scopes\":[\"process\"]}");
        anna.method("DELETE", "/threads/" + thread + "/sandbox");
        var answer =
                server.api().as("bob").post("/threads/" + thread + "/sandbox", "{\"egress\":{\"allow\":[\"a.test\"]}}");
        assertThat(answer.status()).isEqualTo(403);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "{\"allow\":\"a.test\"}",
                "{\"allow\":[1]}",
                "{\"allow\":[\"http://a.test\"]}",
                "{\"allow\":[\"a.test:0\"]}",
                "{\"allow\":[\"\"]}",
                "{\"allow\":[\"a.test\"],\"deny\":[]}",
                "{\"allow\":null}"
            })
    void invalidAllowListIsRejectedByField(String body) {
        sandbox("good.test");
        var answer = anna.put("/threads/" + thread + "/egress", body);
        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.text()).containsAnyOf("allow", "deny");
        assertThat(anna.get("/threads/" + thread + "/egress").json().optionalStrings("allow"))
                .contains(List.of("good.test"));
    }

    @Test
    void allowListBeyondTheServersLimitIsRejected() {
        assertThat(anna.post("/threads/" + thread + "/sandbox", "{\"egress\":{\"allow\":[\"example.com\"]}}")
                        .status())
                .isEqualTo(403);
        sandbox("good.test");
        sandbox("good.test");
        assertThat(anna.post("/threads/" + thread + "/sandbox", "{\"egress\":{\"allow\":[\"a.test\"]}}")
                        .status())
                .isEqualTo(400);
        assertThat(change("*").status()).isEqualTo(403);
        assertThat(change("127.0.0.1").status()).isEqualTo(403);
    }

    @Test
    void sessionCanBeCreatedWithAnAllowList() {
        var created = server.api()
                .post(
                        "/create_session",
                        "{\"user_id\":\"u\",\"thread_id\":\"" + thread + "\",\"egress\":" + allow(plain("good.test"))
                                + "}");
        assertThat(created.status()).isEqualTo(201);
        String session = created.json().string("session_id");
        assertThat(server.api()
                        .execute(session, "curl -sS http://" + plain("good.test") + "/hello")
                        .string("stdout"))
                .isEqualTo("hello");
    }

    @Test
    void largeResponseArrivesComplete() {
        String sandbox = sandbox(plain("good.test"));
        String command = "curl -sS http://" + plain("good.test") + "/large | wc -c";
        var answer = Api.send(anna.request("/execute")
                .timeout(Duration.ofSeconds(110))
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(Api.command(sandbox, command, "\"timeout\":100"))));
        assertThat(answer.json().string("stdout")).isEqualTo((200L << 20) + "\n");
    }

    @Test
    void pauseClosesConnectionsAndNewOnesWorkAfterResume() throws IOException {
        String sandbox = sandbox(plain("good.test"));
        String tunnel = "exec 3<>/dev/tcp/127.0.0.1/${http_proxy##*:};"
                + " printf 'CONNECT " + plain("good.test") + " HTTP/1.1\\r\\n\\r\\n' >&3; head -n 2 <&3; echo open;"
                + " cat <&3; echo closed";
        try (var events = anna.stream(
                Api.command(sandbox, "bash -c \"" + tunnel.replace("$", "\\$") + "\"", "\"timeout\":600"),
                "text/event-stream")) {
            var text = new StringBuilder();
            readUntil(events, text, "open");
            assertThat(anna.post("/sandboxes/" + sandbox + "/pause", "").status())
                    .isEqualTo(200);
            await().until(() -> audited().stream()
                    .anyMatch(entry -> entry.string("detail").startsWith("cut " + plain("good.test"))));
            assertThat(anna.post("/sandboxes/" + sandbox + "/resume", "").status())
                    .isEqualTo(200);
            readUntil(events, text, "closed");
        }
        assertThat(run(sandbox, "curl -sS http://" + plain("good.test") + "/hello"))
                .isEqualTo("hello");
    }

    private static void readUntil(java.io.InputStream events, StringBuilder text, String wanted) throws IOException {
        while (text.indexOf(wanted) < 0) {
            int c = events.read();
            assertThat(c).as(text.toString()).isNotNegative();
            text.append((char) c);
        }
    }

    @Test
    void allowListAndProgramsSurviveAServerRestart() {
        String sandbox = sandbox(plain("good.test"));
        String before = run(sandbox, "echo $http_proxy");
        anna.execute(
                sandbox,
                "(i=0; while :; do i=$((i+1)); curl -s http://" + plain("good.test")
                        + "/hello > got && mv got done-$i; sleep 0.1; done) > /dev/null 2>&1 &");
        String key = server.adminKey();
        server.restart();
        Api again = new Api(server.uri(), key);
        await().until(() ->
                again.execute(sandbox, "echo $http_proxy").string("stdout").equals(before));
        assertThat(again.get("/threads/" + thread + "/egress").json().optionalStrings("allow"))
                .contains(List.of(plain("good.test")));
        String count = "ls | grep -c done-";
        String countAfterRestart = again.execute(sandbox, count).string("stdout");
        await().until(() -> !again.execute(sandbox, count).string("stdout").equals(countAfterRestart));
        // Deletes the sandbox, so that its program does not connect during other tests.
        assertThat(again.method("DELETE", "/threads/" + thread + "/sandbox").status())
                .isEqualTo(200);
    }
}
