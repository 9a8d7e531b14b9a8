package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.access.WorkerGrant.Audience;
import dev.vivarium.json.Json;
import dev.vivarium.model.SandboxId;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Several readers of the messages of one agent.
@Timeout(300)
class MessageReadersTest {
    private static final int MESSAGES = 25;
    private static final int POLLS_A_MINUTE = 30;

    private static TestServer server;

    @BeforeAll
    static void start() {
        server = TestServer.start("--rate-messages", Integer.toString(POLLS_A_MINUTE));
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Test
    void clientWithAKeyDoesNotTakeMessagesFromTheAgent() {
        var run = AgentRun.of(server, "cat > /dev/null");
        run.awaitEvent("agent.started");
        for (int i = 0; i < MESSAGES; i++) {
            post(run, "message " + i);
            assertThat(server.api().get(run.path() + "/messages").status()).isEqualTo(200);
        }

        await().untilAsserted(() -> assertThat(delivered(run)).hasSize(MESSAGES).doesNotHaveDuplicates());
    }

    @Test
    void messageGoesToOneReaderInTheSandbox() {
        var run = AgentRun.of(server, "cat > /dev/null");
        run.awaitEvent("agent.started");
        var program = run.worker();
        List<String> taken = new ArrayList<>();
        for (int i = 0; i < MESSAGES; i++) {
            post(run, "message " + i);
            taken.addAll(ids(program.get(run.path() + "/messages").text()));
        }

        await().untilAsserted(() -> {
            List<String> all = new ArrayList<>(delivered(run));
            all.addAll(taken);
            assertThat(all).hasSize(MESSAGES).doesNotHaveDuplicates();
        });
    }

    @Test
    void pollThatAcknowledgesMessagesIsNotLimited() {
        var run = AgentRun.of(server, "exec sleep 1000");
        run.awaitEvent("agent.started");
        stopWorker(run);
        var worker = server.api().with(run.token(Audience.WORKER));
        List<String> received = List.of();
        for (int i = 0; i < 2 * POLLS_A_MINUTE; i++) {
            post(run, "message " + i);
            var answer = worker.get(run.path() + "/messages?ack=" + String.join(",", received));
            assertThat(answer.status()).as("poll " + i).isEqualTo(200);
            received = ids(answer.text());
        }

        await().until(() -> worker.get(run.path() + "/messages?ack=").status() == 429);
    }

    /// The worker of the run must not poll too.
    private static void stopWorker(AgentRun run) {
        var worker = server.sandboxes()
                .require(new SandboxId(run.id()))
                .processes()
                .list()
                .getFirst();
        assertThat(server.api().execute(run.id(), "kill -STOP " + worker.pid()).integer("exit_code"))
                .isZero();
    }

    private static void post(AgentRun run, String text) {
        assertThat(server.api()
                        .post(run.path() + "/messages", "{\"content\":\"" + text + "\"}")
                        .status())
                .isEqualTo(202);
    }

    private static List<String> delivered(AgentRun run) {
        return Json.answer(run.events("agent.message_delivered")).objects("events").stream()
                .map(event -> event.object("event_data").string("message_id"))
                .toList();
    }

    private static List<String> ids(String messages) {
        return Json.answer("{\"messages\":" + messages + "}").objects("messages").stream()
                .map(message -> message.string("message_id"))
                .toList();
    }
}
