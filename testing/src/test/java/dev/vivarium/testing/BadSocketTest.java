package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.access.Scope;
import dev.vivarium.server.settings.WatchConfig;
import dev.vivarium.testing.ShellClient.Reading;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Invalid input to the event sockets of a real server.
class BadSocketTest {
    private static final String FEED = "/api/v1/ws/events";

    @RegisterExtension
    static final SharedServer SERVER = SharedServer.with();

    private final Api api = SERVER.api();
    private final String session = api.session();

    @Test
    void tokenOfAnotherOrEndedSandboxIsRejected() {
        String other = api.session();
        String foreign = SERVER.get().token(other, Scope.SHELL_RO);
        assertThat(closeCode("/ws/sandboxes/" + session + "?token=" + foreign)).isEqualTo(4401);

        String own = SERVER.get().token(session, Scope.SHELL_RO);
        api.post("/cleanup", "{\"session_id\":\"" + session + "\"}");
        assertThat(closeCode("/ws/sandboxes/" + session + "?token=" + own)).isEqualTo(4404);
        assertThat(closeCode(FEED + "?token=" + own)).isEqualTo(4404);
    }

    @Test
    void tokenWithoutShellScopeIsForbidden() {
        String token = SERVER.get().token(session, Scope.FS_RO);

        assertThat(closeCode("/ws/sandboxes/" + session + "?token=" + token)).isEqualTo(4403);
    }

    /// Logs, proxies and the history of browsers keep URLs.
    @Test
    void adminKeyInTheQueryIsRejected() throws IOException {
        for (String path : List.of(FEED, "/ws/sandboxes/" + session)) {
            assertThat(handshake(path + "?token=" + SERVER.get().adminKey()))
                    .startsWith("HTTP/1.1 401")
                    .contains("admin key");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "Sec-WebSocket-Key: \r\n",
                "Sec-WebSocket-Key: c2hvcnQ=\r\n",
                "Sec-WebSocket-Key: not base64 at all ======\r\n",
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZSBhbmQgbW9yZQ==\r\n",
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
            })
    void invalidWebSocketKeyIsRejected(String keyLine) throws IOException {
        try (var socket = new Socket("127.0.0.1", SERVER.get().uri().getPort())) {
            socket.setSoTimeout(30_000);
            String text =
                    "GET " + FEED + " HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                            + "Sec-WebSocket-Version: 13\r\n" + keyLine + "\r\n";
            socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));

            assertThat(head(socket.getInputStream())).startsWith("HTTP/1.1 400");
        }
    }

    @Test
    void silentSocketIsClosed() {
        try (var server = TestServer.start(
                config -> config.withWatch(config.watch().withAuthTimeout(WatchConfig.AUTH_TIMEOUT)))) {
            String sandbox = server.api().session();
            List<ShellClient> silent = new ArrayList<>();
            for (String path : List.of(FEED, "/ws/sandboxes/" + sandbox, "/sandboxes/" + sandbox + "/shell")) {
                silent.add(ShellClient.open(server.uri(), path, Reading.ALWAYS));
            }
            for (ShellClient client : silent) {
                assertThat(client.awaitClose()).isEqualTo(4401);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "?after_seq=x&token=t",
                "?after_seq=-1",
                "?after_seq=99999999999999999999",
                "?afterseq=1",
                "?event_types=,",
                "?token=a&token=b"
            })
    void invalidQueryIsRejectedBeforeTheUpgrade(String query) throws IOException {
        String answer = handshake("/ws/sandboxes/" + session + query);

        assertThat(answer).startsWith("HTTP/1.1 400").contains("\"error\"");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"type\":\"auth\"}",
                "{\"type\":\"auth\",\"token\":1}",
                "{\"type\":\"hello\",\"token\":\"x\"}",
                "[]",
                "\u0000",
                "nonsense"
            })
    void invalidFirstMessageClosesTheSocket(String message) {
        for (String path : List.of(FEED, "/ws/sandboxes/" + session)) {
            try (var client = open(path)) {
                assertThat(client.send(message).awaitClose()).isEqualTo(4401);
            }
        }
    }

    @Test
    void unknownFieldsInTheFirstMessageAreRejected() {
        for (String more : List.of("\"after\":1", "\"after_seq\":-1", "\"after_seq\":\"1\"", "\"event_types\":{}")) {
            try (var client = open("/ws/sandboxes/" + session)) {
                assertThat(client.auth(api.key(), more).awaitClose()).isEqualTo(4400);
            }
        }
    }

    @Test
    void deeplyNestedMessageIsRejected() {
        String deep = "{\"type\":" + "[".repeat(5_000) + "]".repeat(5_000) + "}";
        try (var stranger = open(FEED)) {
            assertThat(stranger.send(deep).awaitClose()).isEqualTo(4401);
        }
        try (var client = open(FEED)) {
            client.auth(api.key(), "").await("connected");
            client.send("{\"type\":\"filter\",\"event_types\":" + "[".repeat(10_000) + "]".repeat(10_000) + "}");
            assertThat(client.await("error").string("code")).isEqualTo("invalid-request");
            client.send("{\"type\":\"ping\"}").await("pong");
        }
    }

    @Test
    void oversizedMessageClosesTheSocket() {
        try (var stranger = open(FEED)) {
            sendOversized(stranger, 20_000);
            assertThat(stranger.awaitClose()).isEqualTo(1009);
        }
        try (var client = open(FEED)) {
            client.auth(api.key(), "").await("connected");
            sendOversized(client, 600_000);
            assertThat(client.awaitClose()).isEqualTo(1009);
        }
    }

    private static void sendOversized(ShellClient client, int letters) {
        try {
            client.send("x".repeat(letters));
        } catch (CompletionException e) {
            // The server closes the connection before it has read the whole message.
        }
    }

    @Test
    void binaryMessagesAreRejected() {
        try (var stranger = open(FEED)) {
            stranger.sendBinary(new byte[] {1, 2, 3});
            assertThat(stranger.awaitClose()).isEqualTo(4401);
        }
        try (var client = open(FEED)) {
            client.auth(api.key(), "").await("connected");
            client.sendBinary(new byte[] {1, 2, 3});
            assertThat(client.await("error").string("code")).isEqualTo("invalid-request");
        }
    }

    @Test
    void invalidFramesCloseOnlyTheirConnection() throws IOException {
        for (byte[] garbage : List.of(
                new byte[] {(byte) 0xff, (byte) 0xff, 1, 2, 3},
                new byte[] {(byte) 0x81, 5, 'h', 'e', 'l', 'l', 'o'}, // not masked
                new byte[] {(byte) 0x80, (byte) 0x80, 0, 0, 0, 0}, // continuation without a first frame
                new byte[] {(byte) 0x81, (byte) 0xff, (byte) 0x7f, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0},
                new byte[] {(byte) 0x81, (byte) 0x82, 0, 0, 0, 0, (byte) 0xc3, 0x28} // not UTF-8
                )) {
            try (var socket = upgraded(SERVER.get().uri(), FEED)) {
                socket.getOutputStream().write(garbage);
                socket.getOutputStream().flush();
                socket.getInputStream().readAllBytes();
            }
        }
        try (var client = open(FEED)) {
            client.auth(api.key(), "").await("connected");
        }
    }

    @Test
    void floodOfSilentSocketsIsRejectedAndAuthenticatedOnesStay() throws IOException {
        // The long introduction timeout keeps all silent sockets open until the last one connects.
        try (var withLongIntroduction =
                TestServer.start(config -> config.withWatch(config.watch().withAuthTimeout(Duration.ofHours(1))))) {
            URI uri = withLongIntroduction.uri();
            try (var authenticated = ShellClient.open(uri, FEED, Reading.ALWAYS)) {
                authenticated.auth(withLongIntroduction.adminKey(), "").await("connected");
                flood(uri);
                authenticated.send("{\"type\":\"ping\"}").await("pong");
            }
            await().untilAsserted(() -> {
                try (var client = ShellClient.open(uri, FEED, Reading.ALWAYS)) {
                    client.auth(withLongIntroduction.adminKey(), "").await("connected");
                }
            });
        }
    }

    private static void flood(URI server) throws IOException {
        List<Socket> flood = new ArrayList<>();
        try {
            for (int i = 0; i < 1_100; i++) {
                flood.add(upgraded(server, FEED));
            }
            byte[] close = flood.getLast().getInputStream().readNBytes(4);
            assertThat(close[0]).isEqualTo((byte) 0x88);
            assertThat((close[2] & 0xff) << 8 | close[3] & 0xff).isEqualTo(1013);
        } finally {
            for (Socket socket : flood) {
                socket.close();
            }
        }
    }

    private int closeCode(String path) {
        try (var client = open(path)) {
            return client.awaitClose();
        }
    }

    private static ShellClient open(String path) {
        return ShellClient.open(SERVER.get().uri(), path, Reading.ALWAYS);
    }

    /// Opens a raw socket and completes the WebSocket upgrade.
    private static Socket upgraded(URI server, String path) throws IOException {
        var socket = new Socket("127.0.0.1", server.getPort());
        socket.setSoTimeout(30_000);
        request(socket, path);
        String head = head(socket.getInputStream());
        assertThat(head).startsWith("HTTP/1.1 101");
        return socket;
    }

    private static String handshake(String path) throws IOException {
        try (var socket = new Socket("127.0.0.1", SERVER.get().uri().getPort())) {
            socket.setSoTimeout(30_000);
            request(socket, path);
            String head = head(socket.getInputStream());
            return head + new String(socket.getInputStream().readNBytes(64), StandardCharsets.UTF_8);
        }
    }

    private static void request(Socket socket, String path) throws IOException {
        String text = "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
        socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
    }

    private static String head(InputStream in) throws IOException {
        var head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            int next = in.read();
            if (next < 0) {
                break;
            }
            head.append((char) next);
        }
        return head.toString();
    }
}
