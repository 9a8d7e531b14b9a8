package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.concurrent.CompletionException;
import org.eclipse.jetty.websocket.api.exceptions.UpgradeException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Upgraded connections through a preview. Needs root.
@Tag("root")
@Timeout(120)
class PreviewSocketTest {
    private static TestServer server;
    private static Program program;

    @BeforeAll
    static void start() {
        server = TestServer.startIsolated();
        program = Program.start(server);
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Test
    void webSocketPassesBothWaysAndClosesCleanly() {
        try (var socket = new TestSocket(webSocket("/ws"), "Authorization", "Bearer " + program.key())) {
            socket.read(Long.MAX_VALUE);

            assertThat(socket.next()).hasValue("hello");
            socket.send("over the wire");
            assertThat(socket.next()).hasValue("over the wire");
            String large = "0123456789".repeat(20_000);
            socket.send(large);
            assertThat(socket.next()).hasValue(large);
            socket.leave();
            assertThat(socket.awaitClose()).isEqualTo(1000);
        }
    }

    @Test
    void webSocketWithoutACredentialIsUnauthorized() {
        assertThatThrownBy(() -> new TestSocket(webSocket("/ws")))
                .isInstanceOfSatisfying(
                        CompletionException.class,
                        e -> assertThat(e.getCause())
                                .isInstanceOfSatisfying(
                                        UpgradeException.class,
                                        rejected -> assertThat(rejected.getResponseStatusCode())
                                                .isEqualTo(401)));
    }

    @Test
    void anyProtocolPassesUnchangedAndEachDirectionClosesSeparately() throws Exception {
        var data = new byte[8_000_000];
        new Random(3).nextBytes(data);
        try (var socket = upgraded("/raw", "raw")) {
            var writer = Thread.ofVirtual().start(() -> {
                try {
                    socket.getOutputStream().write(data);
                    socket.shutdownOutput();
                } catch (IOException e) {
                    throw new java.io.UncheckedIOException(e);
                }
            });
            byte[] received = socket.getInputStream().readAllBytes();
            writer.join();

            assertThat(received).isEqualTo(data);
        }
    }

    @Test
    void slowReaderBlocksOnlyItsOwnTunnel() throws Exception {
        try (var socket = upgraded("/raw", "raw")) {
            var writer = Thread.ofVirtual().start(() -> {
                try {
                    // More than the kernel buffers hold in both directions.
                    for (int megabyte = 0; megabyte < 300; megabyte++) {
                        socket.getOutputStream().write(new byte[1_000_000]);
                    }
                } catch (IOException e) {
                    // The test has ended.
                }
            });
            for (int i = 0; i < 20; i++) {
                assertThat(program.get("/headers").status()).isEqualTo(200);
            }
            assertThat(writer.isAlive()).isTrue();
        }
    }

    @Test
    void idleTunnelIsClosed() throws Exception {
        try (var shortIdle = TestServer.startIsolated("--preview-idle-seconds", "10");
                var socket = upgraded(Program.start(shortIdle), "/raw", "raw")) {
            assertThat(socket.getInputStream().read()).isEqualTo(-1);
        }
    }

    @Test
    void cleartextHttp2UpgradeIsIgnored() {
        var answer = program.send(
                "GET " + program.prefix() + "/headers HTTP/1.1\r\nHost: x\r\n" + program.auth()
                        + "Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n");

        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.body()).doesNotContain("h2c", "http2-settings");
    }

    @Test
    void endOfSandboxClosesItsTunnels() throws Exception {
        var other = Program.start(server);
        try (var socket = upgraded(other, "/raw", "raw")) {
            server.api().post("/cleanup", "{\"session_id\":\"" + other.session() + "\"}");

            assertThat(socket.getInputStream().read()).isEqualTo(-1);
        }
    }

    private static URI webSocket(String path) {
        return URI.create("ws://" + program.server().getAuthority() + program.prefix() + path);
    }

    private static Socket upgraded(String path, String protocol) throws IOException {
        return upgraded(program, path, protocol);
    }

    private static Socket upgraded(Program program, String path, String protocol) throws IOException {
        var socket = program.connect();
        String request = "GET " + path + " HTTP/1.1\r\nHost: " + program.host() + "\r\n" + program.auth()
                + "Connection: Upgrade\r\nUpgrade: " + protocol + "\r\n\r\n";
        socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
        assertThat(head(socket.getInputStream())).startsWith("HTTP/1.1 101 ").containsIgnoringCase("Upgrade: raw");
        return socket;
    }

    private static String head(InputStream in) throws IOException {
        var head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            int b = in.read();
            assertThat(b).as("next byte after %s", head).isNotNegative();
            head.append((char) b);
        }
        return head.toString();
    }
}
