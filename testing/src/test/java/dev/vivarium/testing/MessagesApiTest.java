package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.List;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MessagesApiTest {
    @RegisterExtension
    static final SharedServer SERVER = SharedServer.with();

    private final Api api = SERVER.api();
    private final String sandbox = "/api/v1/sandboxes/" + api.session();

    @Test
    void queuedMessagesAreDeliveredOnceInterruptsFirst() {
        var first = api.post(sandbox + "/messages", "{\"content\":\"hello\"}");
        var second = api.post(sandbox + "/messages", "{\"content\":\"stop\",\"message_type\":\"interrupt\"}");
        var taken = api.get(sandbox + "/messages");

        assertThat(first.status()).isEqualTo(202);
        assertThat(first.json().string("status")).isEqualTo("queued");
        assertThat(second.json().integer("queue_size")).isEqualTo(2);
        assertThat(taken.text())
                .startsWith("[{\"message_id\":\"" + second.json().string("message_id") + "\",\"content\":\"stop\","
                        + "\"message_type\":\"interrupt\",\"source\":\"user\",\"timestamp\":\"")
                .contains("\"content\":\"hello\"");
        assertThat(api.get(sandbox + "/messages").text()).isEqualTo("[]");
    }

    @Test
    void longPollReturnsWhenAMessageArrives() throws Exception {
        try (var worker = Executors.newVirtualThreadPerTaskExecutor()) {
            var waiting =
                    worker.submit(() -> api.get(sandbox + "/messages?wait=30").text());
            api.post(sandbox + "/interventions", "{\"message\":\"use the other API\",\"source\":\"guardian\"}");

            assertThat(waiting.get())
                    .contains("use the other API", "\"message_type\":\"guardian_nudge\"", "\"source\":\"guardian\"");
        }
        await().untilAsserted(() -> assertThat(api.get(sandbox + "/events").text())
                .contains("guardian.intervention", "user.message_delivered", "latency_ms"));
    }

    @Test
    void responseReportsNoListenerWithoutARun() {
        var message = api.post(sandbox + "/messages", "{\"content\":\"hello\"}").json();
        var intervention =
                api.post(sandbox + "/interventions", "{\"message\":\"stop\"}").json();

        assertThat(message.string("status")).isEqualTo("queued");
        assertThat(message.flag("listening")).isFalse();
        assertThat(intervention.flag("listening")).isFalse();
    }

    @Test
    void messageSentAfterARunReachesTheNextRun() {
        var server = SERVER.get();
        var first = AgentRun.of(server, "true");
        first.awaitStatus("completed");
        var sent = api.post(first.path() + "/messages", "{\"content\":\"for the next one\"}")
                .json();
        assertThat(sent.flag("listening")).isFalse();

        String thread = "\"thread_id\":\"" + first.answer().string("thread_id") + "\"";
        var next = AgentRun.of(server, "read task; read message; echo \"$message\"; read more", thread);
        next.awaitEvent("agent.output");
        assertThat(next.events("agent.output")).contains("for the next one");
        var received =
                api.post(next.path() + "/messages", "{\"content\":\"go\"}").json();
        assertThat(received.flag("listening")).isTrue();
        next.awaitStatus("completed");
    }

    @Test
    void interventionResponseNamesItsDelivery() {
        var answer = api.post(
                        sandbox + "/interventions",
                        "{\"message\":\"stop\",\"priority\":\"urgent\",\"inject_mode\":\"next_turn\"}")
                .json();

        assertThat(answer.string("id")).startsWith("msg");
        assertThat(answer.string("status")).isEqualTo("queued");
        assertThat(answer.string("inject_mode")).isEqualTo("next_turn");
        assertThat(answer.integer("estimated_delivery_ms")).isNotNegative();
        assertThat(api.get(sandbox + "/messages").text()).contains("\"message_type\":\"interrupt\"");
    }

    @Test
    void workerReceivesTheInjectMode() {
        api.post(sandbox + "/interventions", "{\"message\":\"later\",\"inject_mode\":\"next_turn\"}");
        api.post(sandbox + "/interventions", "{\"message\":\"now\"}");

        assertThat(api.get(sandbox + "/messages").text())
                .containsPattern("\"content\":\"later\",[^}]*\"inject_mode\":\"next_turn\"")
                .containsPattern("\"content\":\"now\",[^}]*\"inject_mode\":\"immediate\"");
        assertThat(api.get(sandbox + "/events?type=user.guidance").text()).contains("\"inject_mode\":\"next_turn\"");
    }

    @Test
    void userMessageEventReachesTheAgentOnce() {
        String event = "{\"event_type\":\"user.message\",\"event_data\":{\"content\":\"hello\"},\"event_id\":\"e1\"}";
        var sent = api.post(sandbox + "/events", event);
        var again = api.post(sandbox + "/events", event);
        api.post(
                sandbox + "/events",
                "[{\"event_type\":\"my.note\"},{\"event_type\":\"user.interrupt\",\"event_data\":{\"content\":\"stop\"}}]");

        assertThat(sent.status()).isEqualTo(201);
        assertThat(again.status()).isEqualTo(200);
        assertThat(again.json().integer("seq")).isEqualTo(sent.json().integer("seq"));
        assertThat(api.get(sandbox + "/messages").text())
                .containsSubsequence("\"content\":\"stop\"", "\"content\":\"hello\"")
                .containsOnlyOnce("hello");
        assertThat(api.get(sandbox + "/messages").text()).isEqualTo("[]");
        assertThat(api.get(sandbox + "/events?type=user.message").json().objects("events"))
                .hasSize(1);
        api.post(sandbox + "/events", event);
        assertThat(api.get(sandbox + "/messages").text())
                .as("a delivered message is not queued again")
                .isEqualTo("[]");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"event_type\":\"user.message\"}|event_data.content",
                "{\"event_type\":\"user.guidance\",\"event_data\":{\"content\":\"\"}}|event_data.content",
                "{\"event_type\":\"user.interrupt\",\"event_data\":{\"content\":7}}|event_data.content",
                "{\"event_type\":\"user.approve\",\"event_data\":{\"review_id\":\"rev\"}}|event_type",
                "{\"event_type\":\"sandbox.message\",\"event_data\":{\"content\":\"hello\"}}|event_type",
            })
    void invalidUserEventIsUnprocessable(String body, String field) {
        var answer = api.post(sandbox + "/events", body);

        assertThat(answer.status()).isEqualTo(422);
        assertThat(answer.json().string("field")).isEqualTo(field);
        assertThat(api.get(sandbox + "/events?type=user.").json().objects("events"))
                .isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "messages|{}|content",
                "messages|{\"content\":\"\"}|content",
                "messages|{\"content\":\"x\",\"message_type\":\"shout\"}|message_type",
                "messages|{\"content\":\"x\",\"extra\":1}|extra",
                "messages|{\"content\":\"x\",\"source\":\"my tool\"}|source",
                "interventions|{\"message\":\"\"}|message",
                "interventions|{\"content\":\"x\"}|message",
                "interventions|{\"message\":\"x\",\"priority\":\"huge\"}|priority",
                "interventions|{\"message\":\"x\",\"inject_mode\":\"later\"}|inject_mode",
            })
    void invalidMessageIsUnprocessable(String route, String body, String field) {
        var answer = api.post(sandbox + "/" + route, body);

        assertThat(answer.status()).isEqualTo(422);
        assertThat(answer.json().string("field")).isEqualTo(field);
        assertThat(api.get(sandbox + "/messages").text()).isEqualTo("[]");
    }

    @Test
    void controlCharactersAreRemovedAndLongMessagesRejected() {
        api.post(sandbox + "/messages", "{\"content\":\"a\\u0000\\u001b[31m\\tb\\n\"}");
        assertThat(api.get(sandbox + "/messages").text()).contains("\"content\":\"a[31m\\tb\\n\"");

        for (String route : List.of("messages", "interventions")) {
            String field = route.equals("messages") ? "content" : "message";
            String tooLong = "{\"" + field + "\":\"" + "x".repeat(10 * 1024 + 1) + "\"}";
            String tooDeep = "{\"" + field + "\":" + "[".repeat(10_000);
            assertThat(api.post(sandbox + "/" + route, tooLong).status()).isEqualTo(422);
            assertThat(api.post(sandbox + "/" + route, tooDeep).status()).isEqualTo(422);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"?wait=61", "?wait=-1", "?wait=x"})
    void waitOutOfBoundsIsRejected(String query) {
        assertThat(api.get(sandbox + "/messages" + query).status()).isEqualTo(400);
    }

    @Test
    void messagesOfAnotherUsersSandboxAreNotFound() {
        var stranger = api.as("stranger");

        assertThat(stranger.get(sandbox + "/messages").status()).isEqualTo(404);
        assertThat(stranger.post(sandbox + "/messages", "{\"content\":\"x\"}").status())
                .isEqualTo(404);
    }
}
