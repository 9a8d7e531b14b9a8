package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.access.WorkerGrant.Audience;
import dev.vivarium.model.SandboxId;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// The control port: the connection from a sandbox without network to the server, used with common programs. Needs
/// root.
@Tag("root")
@Timeout(120)
class ControlPortTest {
    private static TestServer server;

    private Api api;
    private String session;
    private URI controlPort;
    private String token;

    @BeforeAll
    static void start() {
        server = TestServer.startIsolated("--disk-mb", "64", "--rate-limits", "off");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @BeforeEach
    void open() {
        api = server.api();
        session = api.session();
        controlPort = server.sandboxes().require(new SandboxId(session)).openControlPort();
        token = server.workerToken(session, Audience.WORKER);
    }

    @Test
    void controlPortReachesTheServerWithoutANetwork() {
        assertThat(post("hello").stdout()).endsWith(" 201");
        assertThat(sh("tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '")).isEqualTo("lo\n");
        assertThat(sh("curl -s -m 60 " + server.uri() + "/health; echo $?")).isEqualTo("7\n");
    }

    @Test
    void controlPortServesOnlyWorkerRoutes() {
        String admin = "-H 'X-API-Key: " + server.adminKey() + "' ";
        for (String path : new String[] {"/admin/keys", "/threads", "/list_files?session_id=" + session, "/metrics"}) {
            assertThat(curl(admin + controlPort + path)).as(path).endsWith(" 404");
        }
        assertThat(curl(controlPort + "/health")).endsWith(" 401");
        assertThat(curl(admin + controlPort + messages(session)))
                .contains("only the worker of sandbox")
                .endsWith(" 403");
    }

    @Test
    void browserCookieIsIgnored() {
        var answer = Api.send(HttpRequest.newBuilder(server.uri().resolve("/console/session"))
                .header("Origin", server.uri().toString())
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString("{\"key\":\"" + server.adminKey() + "\"}")));
        String cookie = answer.headers().firstValue("Set-Cookie").orElseThrow().split(";")[0];

        assertThat(curl("-H 'Cookie: " + cookie + "' " + controlPort + messages(session)))
                .endsWith(" 401");
        assertThat(curl("-H 'Cookie: " + cookie + "' " + controlPort + "/console/session"))
                .endsWith(" 401");
    }

    @Test
    void tokenOfAnotherSandboxIsRejectedAndAudited() {
        String other = api.session();
        String stolen = server.workerToken(other, Audience.WORKER);

        assertThat(curl("-H 'Authorization: Bearer " + stolen + "' " + controlPort + messages(other)))
                .contains("only the worker of sandbox " + session)
                .endsWith(" 403");

        await().untilAsserted(() -> assertThat(api.get("/admin/audit?limit=20").text())
                .contains("\"aud\":\"" + session + "\"", "GET /api/v1/sandboxes/{sandbox_id}/messages"));
    }

    @Test
    void messageReachesALongPoll() {
        var received =
                CompletableFuture.supplyAsync(() -> curl(bearer() + controlPort + messages(session) + "?wait=60"));
        api.post(messages(session), "{\"content\":\"use the other API\"}");

        assertThat(received.join()).contains("use the other API").endsWith(" 200");
    }

    @Test
    void messageStreamReachesTheSandbox() {
        var received = CompletableFuture.supplyAsync(() -> sh("curl -sN -H 'Accept: application/x-ndjson' " + bearer()
                + controlPort + messages(session) + " | grep -m 2 content"));
        api.post(messages(session), "{\"content\":\"one\"}");
        api.post(messages(session), "{\"content\":\"two\"}");

        assertThat(received.join()).contains("\"content\":\"one\"", "\"content\":\"two\"");
    }

    @Test
    void largeBodiesPassInBothDirections() {
        String script = "python3 - <<'P'\nimport json\nprint(json.dumps({'event_type':'agent.output','event_data':"
                + "{'text':'x'*90000}}))\nP\n";
        sh(script.replace("<<'P'", "> big.json <<'P'"));
        String sent = curl("--data-binary @big.json -H 'Content-Type: application/json' " + bearer() + controlPort
                + events(session));

        assertThat(sent).endsWith(" 201");
        assertThat(api.get(events(session) + "?type=agent.output").text()).hasSizeGreaterThan(90_000);
        for (int i = 0; i < 30; i++) {
            api.post(messages(session), "{\"content\":\"" + "x".repeat(10_000) + "\"}");
        }
        assertThat(sh("curl -s " + bearer() + controlPort + messages(session) + " | wc -c")
                        .strip())
                .satisfies(bytes -> assertThat(Integer.parseInt(bytes)).isGreaterThan(300_000));
    }

    @Test
    void connectionsAreReusedAndManyRunInParallel() {
        String url = controlPort + messages(session);
        assertThat(sh("curl -s -w '%{http_code} %{num_connects}\\n' " + bearer()
                        + ("-o /dev/null " + url + " ").repeat(20) + "| sort | uniq -c | tr -s ' '"))
                .contains("19 200 0", "1 200 1");
        assertThat(shWithLongTimeout("seq 200 | xargs -P 50 -I{} curl -s -o /dev/null -w '%{http_code}\\n' " + bearer()
                        + url + " | sort | uniq -c | tr -s ' '"))
                .isEqualTo(" 200 200\n");
    }

    @Test
    void malformedHttpIsRejectedAndOtherRequestsContinue() {
        String port = Integer.toString(controlPort.getPort());
        String script = "import socket\n"
                + "def say(b):\n"
                + "    s = socket.create_connection(('127.0.0.1', " + port + ")); s.settimeout(20)\n"
                + "    s.sendall(b); return s.recv(100).split(b'\\r\\n')[0]\n"
                + "print(say(b'nonsense\\r\\n\\r\\n'))\n"
                + "print(say(b'GET / HTTP/1.1\\r\\nX: ' + b'x' * 20000 + b'\\r\\n\\r\\n'))\n"
                + "held = [socket.create_connection(('127.0.0.1', " + port + ")) for _ in range(40)]\n"
                + "for s in held: s.sendall(b'GET /api')\n"
                + "import urllib.request\n"
                + "try: urllib.request.urlopen('http://127.0.0.1:" + port + "/x')\n"
                + "except urllib.error.HTTPError as e: print(e.code)\n";
        assertThat(sh("python3 - <<'P'\n" + script + "P"))
                .isEqualTo("b'HTTP/1.1 400 Bad Request'\nb'HTTP/1.1 431 Request Header Fields Too Large'\n401\n");
    }

    @Test
    void controlPortKeepsItsAddressAfterARestart() {
        server.restart();
        api = server.api();

        await().ignoreExceptions()
                .untilAsserted(() -> assertThat(post("again").stdout()).endsWith(" 201"));
        assertThat(server.sandboxes().require(new SandboxId(session)).openControlPort())
                .isEqualTo(controlPort);
    }

    @Test
    void longPollSurvivesAPause() {
        var received = CompletableFuture.supplyAsync(
                () -> shWithLongTimeout("curl -s " + bearer() + controlPort + messages(session) + "?wait=60"));
        await().untilAsserted(
                        () -> assertThat(api.execute(session, "pgrep -c curl").string("stdout"))
                                .isEqualTo("1\n"));
        api.post("/sandboxes/" + session + "/pause", "");
        api.post("/sandboxes/" + session + "/resume", "");
        api.post(messages(session), "{\"content\":\"thawed\"}");

        assertThat(received.join()).contains("thawed");
        assertThat(post("after").stdout()).endsWith(" 201");
    }

    @Test
    void sandboxHasNoControlPortUntilItIsOpened() {
        String other = api.session();

        assertThat(api.execute(other, "curl -s http://127.0.0.1:" + controlPort.getPort() + "; echo $?")
                        .string("stdout"))
                .isEqualTo("7\n");
    }

    private record CurlOutput(String stdout) {}

    private CurlOutput post(String text) {
        return new CurlOutput(curl("-d '{\"event_type\":\"agent.message\",\"event_data\":{\"text\":\"" + text
                + "\"}}' -H 'Content-Type: application/json' " + bearer() + controlPort + events(session)));
    }

    private String bearer() {
        return "-H 'Authorization: Bearer " + token + "' ";
    }

    private String curl(String arguments) {
        return sh("curl -s -m 60 -w ' %{http_code}' " + arguments);
    }

    private String sh(String script) {
        return api.execute(session, script).string("stdout");
    }

    /// Runs a script with a longer timeout, for a busy host.
    private String shWithLongTimeout(String script) {
        var body = BodyPublishers.ofString(Api.command(session, script, "\"timeout\":100"));
        return Api.send(api.request("/execute")
                        .timeout(Duration.ofSeconds(110))
                        .header("Content-Type", "application/json")
                        .POST(body))
                .json()
                .string("stdout");
    }

    private static String messages(String sandbox) {
        return "/api/v1/sandboxes/" + sandbox + "/messages";
    }

    private static String events(String sandbox) {
        return "/api/v1/sandboxes/" + sandbox + "/events";
    }
}
