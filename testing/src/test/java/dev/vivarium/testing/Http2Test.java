package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.vivarium.server.settings.Config;
import dev.vivarium.testing.RawHttp2.Frame;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/// HTTP/2 in the clear at a real server, frame by frame.
@Timeout(300)
class Http2Test {
    private static final Duration DEADLINE = Duration.ofSeconds(2);

    private static final int ENABLE_CONNECT_PROTOCOL = 8;

    /// HPACK: `:status: 200`.
    private static final byte OK = (byte) 0x88;

    @RegisterExtension
    static final SharedServer SERVER = SharedServer.with(Http2Test::withShortDeadlines);

    private static Config withShortDeadlines(Config config) {
        var http = config.http();
        return config.withHttp(http.withLimits(http.limits().withDeadlines(DEADLINE, DEADLINE)));
    }

    @Test
    void clientWithPriorKnowledgeIsAnswered() throws IOException {
        try (var client = new RawHttp2(SERVER.get().uri())) {
            client.request(1, RawHttp2.END_STREAM, "GET", "/health");
            client.request(3, RawHttp2.END_STREAM, "GET", "/openapi.json");

            Frame first = client.await(RawHttp2.HEADERS);
            Frame second = client.await(RawHttp2.HEADERS);
            assertThat(first.payload()).contains(OK);
            assertThat(second.payload()).contains(OK);
            assertThat(first.stream() + second.stream()).isEqualTo(4);
        }
    }

    @Test
    void upgradeFromHttp1IsIgnored() throws IOException {
        try (var client = new RawClient(SERVER.get().uri())) {
            client.send("GET /health HTTP/1.1\r\nHost: x\r\nConnection: close, Upgrade, HTTP2-Settings\r\n"
                    + "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n");

            assertThat(client.readAll()).startsWith("HTTP/1.1 200 ");
        }
    }

    @Test
    void connectionWithoutARequestIsClosed() throws IOException {
        try (var client = new RawHttp2(SERVER.get().uri())) {
            assertClosed(client);
        }
    }

    @Test
    void slowRequestBodyIsClosed() throws IOException {
        try (var client = new RawHttp2(SERVER.get().uri())) {
            client.request(
                    1,
                    0,
                    "POST",
                    "/create_session",
                    "x-api-key",
                    SERVER.get().adminKey(),
                    "content-type",
                    "application/json");
            client.send(RawHttp2.DATA, 0, 1, new byte[] {'{'});
            assertClosed(client);
        }
    }

    /// HTTP/2 frames a body itself, so clients may omit `Content-Length`.
    @Test
    void optionalBodyWithoutALengthIsRead() throws IOException {
        String thread = Api.thread();
        assertThat(negotiate(thread, "{\"scopes\":[\"nonsense\"]}")).contains("scopes");
        assertThat(negotiate(thread, "{\"scopes\":[\"fs:ro\"]}")).contains("\"scopes\":[\"fs:ro\"]");
        assertThat(negotiate(thread, "")).contains("\"fs:rw\"");
    }

    /// Answer to `POST /threads/{thread_id}/sandbox` with this body and without a length.
    private static String negotiate(String thread, String body) throws IOException {
        try (var client = new RawHttp2(SERVER.get().uri())) {
            client.request(
                    1,
                    body.isEmpty() ? RawHttp2.END_STREAM : 0,
                    "POST",
                    "/threads/" + thread + "/sandbox",
                    "x-api-key",
                    SERVER.get().adminKey(),
                    "content-type",
                    "application/json");
            if (!body.isEmpty()) {
                client.send(RawHttp2.DATA, RawHttp2.END_STREAM, 1, body.getBytes(StandardCharsets.UTF_8));
            }
            return new String(client.await(RawHttp2.DATA).payload(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void webSocketsNeedHttp1() throws IOException {
        try (var client = new RawHttp2(SERVER.get().uri())) {
            Frame settings = client.await(RawHttp2.SETTINGS);
            var fields = ByteBuffer.wrap(settings.payload());
            var values = new HashMap<Integer, Integer>();
            while (fields.hasRemaining()) {
                values.put((int) fields.getShort(), fields.getInt());
            }
            assertThat(values.getOrDefault(ENABLE_CONNECT_PROTOCOL, 0)).isZero();
        }
    }

    private static void assertClosed(RawHttp2 client) {
        assertThatThrownBy(() -> {
                    while (true) {
                        client.next();
                    }
                })
                .isInstanceOf(IOException.class);
    }
}
