package dev.vivarium.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.testing.TestServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Alerts and webhooks, with a real receiver on this machine. Each test is a user of its own.
@Timeout(300)
class AlertCommandsTest {
    private static TestServer server;

    private final BlockingQueue<String> received = new LinkedBlockingQueue<>();

    @TempDir
    private Path home;

    private CliRunner ann;
    private HttpServer receiver;
    private volatile int answer = 204;

    @BeforeAll
    static void start() {
        server = TestServer.start("--webhook-allow-private", "on", "--webhook-attempts", "1");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @BeforeEach
    void prepare() throws IOException {
        var admin = new CliRunner(server, home);
        assertThat(admin.viv("keys", "issue", "ann-" + home.getFileName())).isZero();
        ann = new CliRunner(server, home).with("VIV_API_KEY", admin.out().strip());
        receiver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 10);
        receiver.createContext("/", call -> {
            received.add(new String(call.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
            call.sendResponseHeaders(answer, -1);
            call.close();
        });
        receiver.start();
    }

    @AfterEach
    void close() {
        receiver.stop(0);
    }

    private String url() {
        return "http://127.0.0.1:" + receiver.getAddress().getPort() + "/hook";
    }

    private List<JsonFields> json(String... words) {
        assertThat(ann.viv(words)).as(ann.err()).isZero();
        return ann.out().lines().map(Json::answer).toList();
    }

    private void failTask() {
        assertThat(ann.viv("task", "add", "Doomed", "--runtime", "command", "--retries", "0", "--", "false"))
                .as(ann.err())
                .isZero();
    }

    @Test
    void aFailedTaskIsAnAlertUntilItIsAcknowledged() {
        failTask();
        String task = ann.out().strip();

        var alerts = await().until(() -> json("alerts", "--json"), found -> !found.isEmpty());
        String id = alerts.getFirst().string("alert_id");
        assertThat(alerts.getFirst().string("type")).isEqualTo("task.failed");
        assertThat(alerts.getFirst().string("task_id")).isEqualTo(task);
        assertThat(ann.viv("alerts")).isZero();
        assertThat(ann.out())
                .startsWith("ALERT\tSEVERITY\tAT\tSEEN\tTYPE\tABOUT\tTITLE\tDETAIL\n" + id + "\twarning\t")
                .contains("\t-\ttask.failed\t" + task + "\t");
        assertThat(ann.viv("alerts", "--acknowledge", id)).isZero();
        assertThat(json("alerts", "--json").getFirst().has("acknowledged_at")).isTrue();
        assertThat(json("alerts", "--after", id, "--json")).isEmpty();
        assertThat(json("alerts", "--severity", "critical", "--json")).isEmpty();
        assertThat(ann.viv("alerts", "-q")).isZero();
        assertThat(ann.out()).isEqualTo(id + "\n");
    }

    @Test
    void aWebhookDeliversEventsAndReplaysThem() throws Exception {
        assertThat(ann.viv("webhook", "add", url(), "--events", "task.failed"))
                .as(ann.err())
                .isZero();
        String id = ann.out().strip();
        assertThat(ann.err()).matches("viv: the secret of its signatures is [0-9a-f]{64}; it is not shown again\n");
        assertThat(ann.viv("webhook", "ls")).isZero();
        assertThat(ann.out())
                .startsWith("WEBHOOK\tCREATED\tFORMAT\tEVENTS\tURL\n" + id + "\t")
                .endsWith("\tjson\ttask.failed\t" + url() + "\n");

        assertThat(ann.viv("webhook", "test", id)).as(ann.err()).isZero();
        assertThat(ann.out()).matches("whd\\w+  pending\n");
        assertThat(received.poll(1, TimeUnit.MINUTES)).contains("webhook.test", id);
        failTask();
        assertThat(received.poll(1, TimeUnit.MINUTES)).contains("task.failed", "Doomed");
        var delivered = await().until(
                        () -> json("webhook", "deliveries", id, "--status", "delivered", "--json"),
                        found -> found.size() == 2);
        String delivery = delivered.getFirst().string("delivery_id");
        assertThat(ann.viv("webhook", "replay", id, delivery)).as(ann.err()).isZero();
        assertThat(ann.out()).startsWith(delivery + "  ");
        assertThat(received.poll(1, TimeUnit.MINUTES)).contains("task.failed", "Doomed");
        assertThat(ann.viv("webhook", "rm", id)).isZero();
        assertThat(json("webhook", "ls", "--json")).isEmpty();
    }

    @Test
    void aDeliveryThatFailsIsListedAsDead() {
        answer = 500;
        assertThat(ann.types("a secret of my own\n")
                        .viv("webhook", "add", url(), "--format", "slack", "--secret-stdin", "--json"))
                .as(ann.err())
                .isZero();
        assertThat(ann.out()).contains("\"format\":\"slack\"").doesNotContain("secret");
        String id = Json.answer(ann.out()).string("webhook_id");
        failTask();

        await().until(() ->
                !json("webhook", "deliveries", id, "--status", "dead", "--json").isEmpty());
        assertThat(ann.viv("webhook", "deliveries", id)).isZero();
        assertThat(ann.out())
                .startsWith("DELIVERY\tSTATUS\tATTEMPTS\tRESPONSE\tCREATED\tNEXT\tEVENT\tERROR\n")
                .contains("\tdead\t1\t500\t");
    }

    @Test
    void invalidArgumentsAreReported() {
        assertThat(ann.viv("webhook")).isEqualTo(ExitCode.USAGE);
        assertThat(ann.err()).contains("a subcommand is missing: add, ls");
        assertThat(ann.viv("webhook", "add", "ftp://example.com/x")).isEqualTo(ExitCode.USAGE);
        assertThat(ann.err()).contains("url must begin with https:// or http://");
        assertThat(ann.viv("webhook", "add", url(), "--format", "xml")).isEqualTo(ExitCode.USAGE);
        assertThat(ann.viv("webhook", "deliveries", "whkaaaaaaaaaaaaaaaaaaaa")).isEqualTo(ExitCode.NOT_FOUND);
        assertThat(ann.viv("alerts", "--acknowledge", "alr999999")).isEqualTo(ExitCode.NOT_FOUND);
        assertThat(ann.viv("alerts", "--severity", "loud")).isEqualTo(ExitCode.USAGE);
    }
}
