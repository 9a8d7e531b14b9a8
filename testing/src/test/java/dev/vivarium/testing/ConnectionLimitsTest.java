package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.provider.FileTrees;
import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(300)
class ConnectionLimitsTest {
    private static final String HEALTH = "GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

    @Test
    void connectionsPerAddressAreLimited() throws IOException {
        try (var server = TestServer.start("--max-connections-per-address", "8")) {
            var held = connect(server.uri(), 8);
            await().until(() -> getHealth(server.uri()).isEmpty());

            close(held);

            await().until(() -> getHealth(server.uri()).startsWith("HTTP/1.1 200 "));
        }
    }

    @Test
    void requestsPerPrincipalAreLimitedWithRetryAfter() throws IOException {
        try (var server = TestServer.start("--max-requests-per-principal", "2")) {
            var api = server.api();
            var other = api.as("other");
            String session = api.session();
            var running = new ArrayList<RawClient>();
            for (int i = 0; i < 2; i++) {
                var client = new RawClient(server.uri());
                running.add(client);
                String body = Api.command(session, "sleep 1000", "\"timeout\": 600");
                client.send("POST /execute HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + api.key()
                        + "\r\nContent-Type: application/json\r\nContent-Length: " + body.length() + "\r\n\r\n" + body);
            }
            await().until(() -> api.get("/api/v1/node").status() == 429);

            var rejected = api.get("/api/v1/node");

            assertThat(rejected.text()).contains("too-many-requests");
            assertThat(rejected.headers().firstValue("Retry-After")).contains("1");
            assertThat(api.get("/health").status()).isEqualTo(200);
            assertThat(other.get("/api/v1/node").status()).isEqualTo(200);
            close(running);
            await().until(() -> api.get("/api/v1/node").status() == 200);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "--max-connections-per-address, 0",
        "--max-connections-per-address, -1",
        "--max-requests-per-principal, 0",
        "--max-requests-per-principal, -5",
        "--max-requests-per-principal, many"
    })
    void invalidLimitIsRejectedAtStart(String setting, String value) {
        assertThatThrownBy(() -> TestServer.start(setting, value))
                .isInstanceOf(SandboxException.class)
                .hasMessageContaining(setting.substring(2));
    }

    @Test
    void unauthenticatedFloodDoesNotExhaustDescriptors() throws IOException {
        Path home = Files.createTempDirectory("viv-").toRealPath();
        String[] arguments = {"--provider", "process", "--pool-size", "0"};
        try (var server = ServerProcess.startWithDescriptors(home, 256, arguments)) {
            var api = server.api();
            String session = api.session();
            var flood = new ArrayList<RawClient>();
            for (int round = 0; round < 5; round++) {
                flood.addAll(connect(server.uri(), 200));

                assertThat(getHealth(server.uri())).startsWith("HTTP/1.1 200 ");
                assertThat(Api.sendAlone(api.request("/api/v1/node")).status()).isEqualTo(200);
                assertThat(api.execute(session, "echo served").string("stdout")).isEqualTo("served\n");
            }
            var descriptors = api.get("/api/v1/node").json().object("descriptors");
            assertThat(descriptors.integer("limit")).isEqualTo(256);
            assertThat(descriptors.integer("open")).isPositive().isLessThan(256);
            close(flood);
        } finally {
            ServerProcess.purge(home, arguments);
            FileTrees.delete(home);
        }
    }

    /// Opens connections whose request never ends.
    private static List<RawClient> connect(URI server, int count) throws IOException {
        var clients = new ArrayList<RawClient>();
        for (int i = 0; i < count; i++) {
            var client = new RawClient(server);
            clients.add(client);
            client.send("GET /health HTTP/1.1\r\nX-Never: ");
        }
        return clients;
    }

    private static String getHealth(URI server) throws IOException {
        try (var client = new RawClient(server)) {
            client.send(HEALTH);
            return client.readAll();
        }
    }

    private static void close(List<RawClient> clients) throws IOException {
        for (var client : clients) {
            client.close();
        }
    }
}
