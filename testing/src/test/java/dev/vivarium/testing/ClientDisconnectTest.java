package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.model.SandboxId;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ClientDisconnectTest {
    @RegisterExtension
    static final SharedServer SERVER = SharedServer.with();

    private final Api api = SERVER.api();
    private final String session = api.session();

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void disconnectKillsTheCommand(boolean reset) throws IOException {
        try (var client = new RawClient(SERVER.get().uri())) {
            client.send(post("/execute", Api.command(session, "exec sleep 1000", "\"timeout\": 600"), ""));
            await().until(() -> processes() == 1);
            if (reset) {
                client.reset();
            }
        }

        await().until(() -> processes() == 0);
    }

    @Test
    void halfClosedClientStillReceivesTheResponse() throws IOException {
        try (var client = new RawClient(SERVER.get().uri())) {
            client.send(post("/execute", Api.command(session, "echo hello"), "Connection: close\r\n"));
            client.finish();

            assertThat(client.readAll()).startsWith("HTTP/1.1 200 ").contains("hello");
        }
    }

    @Test
    void halfClosedClientStillReceivesTheStream() throws IOException {
        try (var client = new RawClient(SERVER.get().uri())) {
            String headers = "Accept: text/event-stream\r\nConnection: close\r\n";
            client.send(post("/execute", Api.command(session, "echo one; sleep 3; echo two"), headers));
            client.finish();

            assertThat(client.readAll()).contains("one").contains("two").contains("event: exit");
        }
    }

    @Test
    void pipelinedRequestsAreAnsweredInOrder() throws IOException {
        try (var client = new RawClient(SERVER.get().uri())) {
            client.send(post("/execute", Api.command(session, "sleep 2; echo first"), "")
                    + post("/execute", Api.command(session, "echo second"), "Connection: close\r\n"));

            String answers = client.readAll();

            assertThat(Pattern.compile("HTTP/1.1 200 ").matcher(answers).results())
                    .hasSize(2);
            assertThat(answers.indexOf("first")).isPositive().isLessThan(answers.indexOf("second"));
        }
    }

    @Test
    void requestSentDuringAnotherIsAnswered() throws IOException {
        try (var client = new RawClient(SERVER.get().uri())) {
            client.send(post("/execute", Api.command(session, "touch started; sleep 2; echo first"), ""));
            await().until(() -> api.execute(session, "ls").string("stdout").contains("started"));
            String second = post("/execute", Api.command(session, "echo second"), "Connection: close\r\n");
            client.send(second.substring(0, 50));
            client.send(second.substring(50));

            assertThat(client.readAll()).contains("first").contains("second");
        }
    }

    private long processes() {
        return SERVER.get().sandboxes().require(new SandboxId(session)).stats().processes();
    }

    private String post(String path, String body, String headers) {
        return "POST " + path + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + api.key()
                + "\r\nContent-Type: application/json\r\n" + headers + "Content-Length: "
                + body.getBytes(StandardCharsets.UTF_8).length + "\r\n\r\n" + body;
    }
}
