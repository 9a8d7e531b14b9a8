package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Programs that never respond, and clients that disconnect from their previews.
@Timeout(120)
class PreviewFloodTest {
    private static final int CALLERS = 120;

    private static TestServer server;
    private static Program program;

    @BeforeAll
    static void start() {
        server = TestServer.start();
        program = Program.start(server, server.api().session(), "flood.py", "python3 flood.py");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Test
    void endlessInformationalResponsesAreABadGateway() {
        var answer = program.get("/hints");

        assertThat(answer.status()).isEqualTo(502);
        assertThat(answer.body()).contains("16 informational responses");
        await().until(() -> openConnections() == 0);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/hints", "/silent"})
    void disconnectedClientsLeaveNoConnections(String path) throws Exception {
        for (int i = 0; i < CALLERS; i++) {
            sendRequest(path, "").close();
        }

        assertThat(server.api().execute(program.session(), "echo ok").string("stdout"))
                .isEqualTo("ok\n");
        assertThat(server.api().get("/health").status()).isEqualTo(200);
        await().until(() -> openConnections() == 0);
    }

    @Test
    void disconnectAfterTheBodyClosesTheConnection() throws Exception {
        var callers = new ArrayList<Socket>();
        for (int i = 0; i < 4; i++) {
            callers.add(sendRequest("/silent", "a body"));
        }
        await().until(() -> openConnections() == 4);
        for (Socket caller : callers) {
            caller.close();
        }

        await().until(() -> openConnections() == 0);
    }

    @Test
    void connectionIsReusableAfterDisconnectDetection() throws Exception {
        String request = "GET " + program.prefix() + "/live HTTP/1.1\r\nHost: localhost\r\n" + program.auth() + "\r\n";
        try (var caller = program.connect()) {
            for (int i = 0; i < 5; i++) {
                caller.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
                var head = new StringBuilder();
                while (head.indexOf("\r\n\r\n") < 0) {
                    head.append((char) caller.getInputStream().read());
                }
                assertThat(head.toString()).startsWith("HTTP/1.1 200 ");
                assertThat(caller.getInputStream().read()).isEqualTo('0');
            }
        }
    }

    private static int openConnections() {
        return Integer.parseInt(program.get("/live").body());
    }

    private static Socket sendRequest(String path, String body) throws IOException {
        var caller = program.connect();
        String method = body.isEmpty() ? "GET " : "POST ";
        String length = body.isEmpty() ? "" : "Content-Length: " + body.length() + "\r\n";
        String head = method + program.prefix() + path + " HTTP/1.1\r\nHost: localhost\r\n" + program.auth() + length;
        caller.getOutputStream().write((head + "\r\n" + body).getBytes(StandardCharsets.US_ASCII));
        return caller;
    }
}
