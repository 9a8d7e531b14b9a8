package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.access.WorkerGrant.Audience;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.TaskId;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Models that send endless responses. Needs root.
@Tag("root")
@Timeout(240)
class ModelFloodTest {
    private static final String ASK =
            "{\"model\":\"claude-sonnet-4-5\",\"max_tokens\":10,\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";
    private static final String HINTS = "HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n".repeat(500);
    private static final String EVENTS = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";

    private static EndlessModel model;
    private static TestServer server;
    private static Api api;
    private static String sandbox;
    private static String curl;

    @BeforeAll
    static void start() throws IOException {
        model = new EndlessModel();
        server = TestServer.startIsolated(
                "--disk-mb", "64", "--model-url", "http://127.0.0.1:" + model.port(), "--model-key", "a-key");
        api = server.api();
        var spawned = api.post(AgentRun.SANDBOXES, AgentRun.body("exec sleep 1000", ""))
                .json();
        sandbox = spawned.string("sandbox_id");
        String token = server.workerToken(sandbox, new TaskId(spawned.string("task_id")), Audience.MODEL);
        curl = "curl -sN -w ' %{http_code}' -H 'Content-Type: application/json' -H 'x-api-key: " + token + "' "
                + server.sandboxes().require(new SandboxId(sandbox)).openControlPort() + "/model/v1/messages -d '" + ASK
                + "' ";
    }

    @AfterAll
    static void stop() throws IOException {
        server.close();
        model.close();
    }

    @Test
    void endlessInformationalResponsesAreABadGateway() {
        model.sends("", HINTS);

        assertThat(run(curl)).contains("too many informational responses").endsWith(" 502");
        await().until(() -> model.connections() == 0);
    }

    @Test
    void disconnectOfTheAgentEndsAnEndlessResponse() {
        model.sends(EVENTS, ": nothing to count\n\n".repeat(1000));

        run("for i in 1 2 3 4; do " + curl + "| head -c 100000 > /dev/null & done; wait");
        assertThat(api.get("/health").status()).isEqualTo(200);
        await().until(() -> model.connections() == 0);
    }

    private static String run(String script) {
        return api.post("/execute", Api.command(sandbox, script, "\"timeout\":60"))
                .json()
                .string("stdout");
    }

    /// Model that answers each request with a prefix and then repeats the same text endlessly.
    private static final class EndlessModel implements AutoCloseable {
        private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        private final AtomicInteger connections = new AtomicInteger();
        private volatile String first = "";
        private volatile String again = "";

        EndlessModel() throws IOException {
            Thread.ofPlatform().daemon().start(this::run);
        }

        int port() {
            return listener.getLocalPort();
        }

        int connections() {
            return connections.get();
        }

        void sends(String prefix, String repeated) {
            first = prefix;
            again = repeated;
        }

        private void run() {
            while (!listener.isClosed()) {
                try {
                    Socket socket = listener.accept();
                    connections.incrementAndGet();
                    Thread.ofPlatform().daemon().start(() -> serve(socket));
                } catch (IOException e) {
                    return;
                }
            }
        }

        private void serve(Socket socket) {
            byte[] repeated = again.getBytes(StandardCharsets.US_ASCII);
            try (socket) {
                socket.getInputStream().read(new byte[65_536]);
                socket.getOutputStream().write(first.getBytes(StandardCharsets.US_ASCII));
                while (true) {
                    socket.getOutputStream().write(repeated);
                }
            } catch (IOException e) {
                connections.decrementAndGet();
            }
        }

        @Override
        public void close() throws IOException {
            listener.close();
        }
    }
}
