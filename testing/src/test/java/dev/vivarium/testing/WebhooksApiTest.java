package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.vivarium.core.webhook.Signature;
import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/// Webhooks and alerts over HTTP, with a real receiver.
@Timeout(180)
class WebhooksApiTest {
    private static final String WEBHOOKS = "/api/v1/webhooks";
    private static final String SECRET = "a secret of the test";

    @RegisterExtension
    static final SharedServer SERVER = SharedServer.with(
            "--pool-size",
            "0",
            "--webhook-allow-private",
            "on",
            "--webhook-attempts",
            "1",
            "--health-every-seconds",
            "0.2");

    private final List<Received> received = new CopyOnWriteArrayList<>();
    private final AtomicInteger status = new AtomicInteger(200);
    private HttpServer receiver;

    private record Received(String path, String type, String signature, byte[] body) {
        JsonFields json() {
            return Json.answer(new String(body, StandardCharsets.UTF_8));
        }
    }

    @BeforeEach
    void startReceiver() throws IOException {
        receiver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        receiver.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        receiver.createContext("/", this::receive);
        receiver.start();
    }

    @AfterEach
    void stopReceiver() {
        receiver.stop(0);
    }

    private void receive(HttpExchange exchange) throws IOException {
        try (exchange) {
            received.add(new Received(
                    exchange.getRequestURI().getPath(),
                    exchange.getRequestHeaders().getFirst("Vivarium-Event"),
                    exchange.getRequestHeaders().getFirst(Signature.HEADER),
                    exchange.getRequestBody().readAllBytes()));
            exchange.sendResponseHeaders(status.get(), -1);
        }
    }

    private String webhook(Api api, String path, String more) {
        var answer = api.post(
                WEBHOOKS,
                "{\"url\":\"http://127.0.0.1:" + receiver.getAddress().getPort() + path + "\",\"secret\":\"" + SECRET
                        + "\"" + more + "}");
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        assertThat(answer.text()).doesNotContain(SECRET);
        return answer.json().string("webhook_id");
    }

    private static String task(Api api, String title) {
        var answer = api.post("/api/v1/tasks", "{\"title\":\"" + title + "\"}");
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        return answer.json().string("task_id");
    }

    private List<Received> at(String path) {
        return received.stream().filter(one -> one.path().equals(path)).toList();
    }

    @Test
    void aUserGetsOwnEventsSignedAndTheAdminGetsAll() {
        Api ann = SERVER.api().as("ann");
        Api bob = SERVER.api().as("bob");
        String mine = webhook(ann, "/ann", ",\"event_types\":[\"task.*\"]");
        String all = webhook(SERVER.api(), "/admin", ",\"event_types\":[\"TASK_CREATED\"]");
        String slack = webhook(ann, "/slack", ",\"event_types\":[\"task.ready\"],\"format\":\"slack\"");
        String first = task(ann, "one <b>");
        task(bob, "two");

        await().until(() -> at("/ann").size() == 2
                && at("/admin").size() == 2
                && at("/slack").size() == 1);

        assertThat(at("/ann")).extracting(Received::type).containsExactlyInAnyOrder("task.pending", "task.ready");
        assertThat(at("/ann"))
                .allMatch(one -> one.json().object("data").string("task_id").equals(first));
        assertThat(at("/admin"))
                .extracting(one -> one.json().string("user_id"))
                .containsExactlyInAnyOrder("ann", "bob");
        assertThat(at("/slack").getFirst().json().string("text")).isEqualTo("Task “one &lt;b&gt;” is ready.");
        Received sample = at("/ann").getFirst();
        long signedAt = Long.parseLong(
                sample.signature().substring(2, sample.signature().indexOf(',')));
        assertThat(sample.signature()).isEqualTo(Signature.of(SECRET, Instant.ofEpochSecond(signedAt), sample.body()));

        assertThat(bob.get(WEBHOOKS).json().objects("webhooks")).isEmpty();
        assertThat(bob.get(WEBHOOKS + "/" + mine).status()).isEqualTo(404);
        assertThat(ann.get(WEBHOOKS + "/" + mine).text()).doesNotContain(SECRET);
        assertThat(SERVER.api().get(WEBHOOKS).json().objects("webhooks"))
                .extracting(one -> one.string("webhook_id"))
                .contains(mine, all, slack);
        for (String id : List.of(mine, all, slack)) {
            assertThat(SERVER.api().method("DELETE", WEBHOOKS + "/" + id).status())
                    .isEqualTo(204);
        }
        assertThat(ann.get(WEBHOOKS + "/" + mine).status()).isEqualTo(404);
    }

    @Test
    void aTestReachesTheReceiverAndOnlyTheOwnerSendsIt() {
        Api ida = SERVER.api().as("ida");
        String id = webhook(ida, "/ida", ",\"event_types\":[\"task.\"]");
        String test = WEBHOOKS + "/" + id + "/test";

        assertThat(SERVER.api().as("bob").post(test, "{}").status()).isEqualTo(404);
        var sent = ida.post(test, "{}");
        assertThat(sent.status()).as(sent.text()).isEqualTo(202);
        assertThat(sent.json().string("event_type")).isEqualTo("webhook.test");

        await().until(() -> at("/ida").size() == 1);
        assertThat(at("/ida").getFirst().json().object("data").string("webhook_id"))
                .isEqualTo(id);
        await().until(() -> !ida.get(WEBHOOKS + "/" + id + "/deliveries?status=delivered")
                .json()
                .objects("deliveries")
                .isEmpty());
    }

    @Test
    void aDeadDeliveryIsVisibleAlertsItsOwnerAndCanBeReplayed() {
        Api eve = SERVER.api().as("eve");
        status.set(500);
        String id = webhook(eve, "/eve", ",\"event_types\":[\"task.pending\"]");
        task(eve, "three");
        String path = WEBHOOKS + "/" + id + "/deliveries";

        await().until(() ->
                !eve.get(path + "?status=dead").json().objects("deliveries").isEmpty());
        JsonFields dead = eve.get(path).json().objects("deliveries").getFirst();
        assertThat(dead.string("error")).contains("status 500");
        assertThat(dead.integer("response_status")).isEqualTo(500);
        await().until(() ->
                alerts(eve, "").stream().anyMatch(one -> one.string("type").equals("webhook.dead")));

        status.set(200);
        var replayed = eve.post(path + "/" + dead.string("delivery_id") + "/replay", "{}");
        assertThat(replayed.status()).as(replayed.text()).isEqualTo(202);
        await().until(() -> eve.get(path)
                .json()
                .objects("deliveries")
                .getFirst()
                .string("status")
                .equals("delivered"));
        assertThat(eve.post(path + "/whdaaaaaaaaaaaaaaaaaaaa/replay", "{}").status())
                .isEqualTo(404);

        JsonFields alert = alerts(eve, "").getFirst();
        assertThat(alerts(SERVER.api().as("stranger"), "")).isEmpty();
        assertThat(alerts(eve, "?after=" + alert.string("alert_id") + "&severity=critical"))
                .isEmpty();
        var seen = eve.post("/api/v1/alerts/" + alert.string("alert_id") + "/acknowledge", "{}");
        assertThat(seen.json().string("acknowledged_by")).isEqualTo("eve");
        assertThat(SERVER.api()
                        .as("stranger")
                        .post("/api/v1/alerts/" + alert.string("alert_id") + "/acknowledge", "{}")
                        .status())
                .isEqualTo(404);
        assertThat(eve.get("/api/v1/alerts?after=nonsense").status()).isEqualTo(400);
    }

    private static List<JsonFields> alerts(Api api, String query) {
        return api.get("/api/v1/alerts" + query).json().objects("alerts");
    }

    @Test
    void invalidWebhooksAreRejected() {
        for (String body : List.of(
                "{\"url\":\"ftp://example.com\",\"secret\":\"" + SECRET + "\"}",
                "{\"url\":\"http://a b\",\"secret\":\"" + SECRET + "\"}",
                "{\"url\":\"http://127.0.0.1/\",\"secret\":\"short\"}",
                "{\"url\":\"http://127.0.0.1/\",\"secret\":\"" + SECRET + "\",\"event_types\":[\"a b\"]}",
                "{\"url\":\"http://127.0.0.1/\",\"secret\":\"" + SECRET + "\",\"event_types\":[\"task*\"]}",
                "{\"url\":\"http://127.0.0.1/\",\"secret\":\"" + SECRET + "\",\"format\":\"xml\"}",
                "{\"url\":\"http://127.0.0.1/\",\"secret\":\"" + SECRET + "\",\"more\":1}")) {
            var answer = SERVER.api().post(WEBHOOKS, body);
            assertThat(answer.status()).as(body + answer.text()).isEqualTo(422);
        }
    }

    @Test
    void healthShowsTheQueue() {
        await().until(() -> SERVER.api().get("/health").json().has("work"));

        JsonFields work = SERVER.api().get("/api/v1/node").json().object("work");
        assertThat(work.integer("queue_depth")).isNotNegative();
        assertThat(work.number("store_latency_ms")).isPositive();
    }
}
