package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.vivarium.json.Json;
import dev.vivarium.model.SandboxId;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Version;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// TLS with HTTP/1.1, HTTP/2 and WebSockets at a real server.
@Timeout(300)
class HttpsTest {
    @TempDir
    private Path directory;

    private TestCertificate certificate;
    private TestServer server;
    private HttpClient http;

    @BeforeEach
    void start() throws Exception {
        certificate = TestCertificate.in(directory);
        server = TestServer.start(
                "--tls-cert",
                certificate.chain().toString(),
                "--tls-key",
                certificate.key().toString());
        http = HttpClient.newBuilder().sslContext(certificate.trust()).build();
    }

    @AfterEach
    void stop() {
        http.shutdownNow();
        server.close();
    }

    @ParameterizedTest
    @EnumSource
    void commandsRunOverTls(Version version) throws Exception {
        String session = session();
        var answer = http.send(
                post("/execute", Api.command(session, "echo hello"))
                        .version(version)
                        .build(),
                BodyHandlers.ofString());

        assertThat(server.uri().getScheme()).isEqualTo("https");
        assertThat(answer.version()).isEqualTo(version);
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.body()).contains("hello");
    }

    @Test
    void addressesInResponsesUseTls() throws Exception {
        var answer = http.send(
                post("/threads/" + Api.thread() + "/sandbox", "{\"user_id\":\"u\"}")
                        .build(),
                BodyHandlers.ofString());

        assertThat(answer.body())
                .contains("\"http\":\"https://" + server.uri().getAuthority())
                .contains("\"ws\":\"wss://" + server.uri().getAuthority());
    }

    @ParameterizedTest
    @EnumSource
    void disconnectKillsTheCommand(Version version) throws Exception {
        String session = session();
        var client = HttpClient.newBuilder().sslContext(certificate.trust()).build();
        var pending = client.sendAsync(
                post("/execute", Api.command(session, "exec sleep 1000", "\"timeout\": 600"))
                        .version(version)
                        .build(),
                BodyHandlers.discarding());
        await().until(() -> processes(session) == 1);
        pending.cancel(true);
        client.shutdownNow();

        await().until(() -> processes(session) == 0);
    }

    @Test
    void socketOverTlsOutlivesTheDeadlineOfARequestHead() throws Exception {
        BlockingQueue<String> messages = new LinkedBlockingQueue<>();
        var address = URI.create("wss://" + server.uri().getAuthority() + "/api/v1/ws/events");
        var socket = http.newWebSocketBuilder()
                .buildAsync(address, listener(messages))
                .join();
        socket.sendText("{\"type\":\"auth\",\"token\":\"" + server.adminKey() + "\"}", true)
                .join();
        assertThat(messages.poll(1, TimeUnit.MINUTES)).contains("connected");

        socket.sendText("{\"type\":\"ping\"}", true).join();
        assertThat(messages.poll(1, TimeUnit.MINUTES)).contains("pong");
        // The server closes this connection at the deadline.
        try (var silent = new RawClient(server.uri())) {
            assertThat(silent.readAll()).isEmpty();
        }
        socket.sendText("{\"type\":\"ping\"}", true).join();
        assertThat(messages.poll(1, TimeUnit.MINUTES)).contains("pong");
        socket.abort();
    }

    @Test
    void changedCertificateIsLoaded() throws Exception {
        var next = TestCertificate.in(directory);

        await().until(() -> presents(next));
        assertThat(HttpClient.newBuilder()
                        .sslContext(next.trust())
                        .build()
                        .send(
                                HttpRequest.newBuilder(server.uri().resolve("/openapi.json"))
                                        .build(),
                                BodyHandlers.discarding())
                        .statusCode())
                .isEqualTo(200);
    }

    @Test
    void unusableCertificateIsRejectedAtStartAndIgnoredLater() throws Exception {
        var other = TestCertificate.in(Files.createDirectory(directory.resolve("other")));
        assertThatThrownBy(() -> TestServer.start(
                        "--tls-cert",
                        certificate.chain().toString(),
                        "--tls-key",
                        other.key().toString()))
                .hasMessageContaining("is not the key of the certificate");
        assertThatThrownBy(
                        () -> TestServer.start("--tls-cert", certificate.chain().toString()))
                .hasMessageContaining("needs tls-key");
        assertThatThrownBy(() ->
                        TestServer.start("--tls-cert", directory.resolve("none").toString(), "--tls-key", "none"))
                .hasMessageContaining("cannot read the certificates");
        Files.writeString(certificate.key(), "nonsense");
        assertThat(presents(certificate)).isTrue();
    }

    private boolean presents(TestCertificate expected) throws Exception {
        try (var socket = (SSLSocket) expected.trust()
                .getSocketFactory()
                .createSocket(server.uri().getHost(), server.uri().getPort())) {
            socket.startHandshake();
            return true;
        } catch (SSLHandshakeException e) {
            return false;
        }
    }

    private static WebSocket.Listener listener(BlockingQueue<String> messages) {
        return new WebSocket.Listener() {
            @Override
            public CompletionStage<?> onText(WebSocket socket, CharSequence text, boolean isLast) {
                messages.add(text.toString());
                socket.request(1);
                return null;
            }
        };
    }

    private String session() throws IOException, InterruptedException {
        HttpResponse<String> answer = http.send(
                post("/create_session", "{\"user_id\":\"u\",\"thread_id\":\"" + Api.thread() + "\"}")
                        .build(),
                BodyHandlers.ofString());
        return Json.answer(answer.body()).string("session_id");
    }

    private HttpRequest.Builder post(String path, String json) {
        return HttpRequest.newBuilder(server.uri().resolve(path))
                .header("X-API-Key", server.adminKey())
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(json));
    }

    private long processes(String session) {
        return server.sandboxes().require(new SandboxId(session)).stats().processes();
    }
}
