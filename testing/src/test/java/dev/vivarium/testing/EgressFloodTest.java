package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// External host that sends endless informational responses to the programs of one sandbox.
@Timeout(120)
class EgressFloodTest {
    private static final byte[] HINTS =
            "HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n".repeat(500).getBytes(StandardCharsets.US_ASCII);

    private final AtomicInteger live = new AtomicInteger();

    @Test
    void endlessInformationalResponsesEndAsBadGateway() throws Exception {
        try (var host = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                var server = TestServer.startIsolated(
                        _ -> List.of(InetAddress.getLoopbackAddress()),
                        "--egress-private",
                        "127.0.0.1/32",
                        "--egress-most",
                        "*.test:*",
                        "--egress-default",
                        "flood.test:" + host.getLocalPort())) {
            Thread.ofPlatform().daemon().start(() -> accept(host));
            Api api = server.api();
            String attacker = api.session();
            String other = api.session();
            String curl = "curl -s -o /dev/null -w '%{http_code} ' http://flood.test:" + host.getLocalPort() + "/";

            String disconnecting = curl + " -m 0.2 & ";
            api.execute(attacker, disconnecting.repeat(8) + "wait");
            assertThat(api.execute(other, "echo ok").string("stdout")).isEqualTo("ok\n");
            assertThat(api.get("/health").status()).isEqualTo(200);
            assertThat(api.execute(attacker, curl).string("stdout")).isEqualTo("502 ");
            await().until(() -> live.get() == 0);
        }
    }

    private void accept(ServerSocket host) {
        while (!host.isClosed()) {
            try {
                Socket socket = host.accept();
                live.incrementAndGet();
                Thread.ofPlatform().daemon().start(() -> flood(socket));
            } catch (IOException e) {
                return;
            }
        }
    }

    private void flood(Socket socket) {
        try (socket) {
            socket.getInputStream().read(new byte[65_536]);
            while (true) {
                socket.getOutputStream().write(HINTS);
            }
        } catch (IOException e) {
            live.decrementAndGet();
        }
    }
}
