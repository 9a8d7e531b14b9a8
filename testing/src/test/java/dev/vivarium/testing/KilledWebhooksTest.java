package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.vivarium.core.provider.FileTrees;
import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Server killed with SIGKILL while it sends webhooks. `-Dviv.kills=5` is the long version.
@Timeout(240)
class KilledWebhooksTest {
    private static final String[] SERVER = {
        "--provider",
        "process",
        "--pool-size",
        "0",
        "--rate-limits",
        "off",
        "--webhook-allow-private",
        "on",
        "--webhook-attempts",
        "1"
    };
    private static final String WEBHOOKS = "/api/v1/webhooks";
    private static final int KILLS = Integer.getInteger("viv.kills", 1);
    private static final int TASKS_PER_SERVER = 10;

    /// Number of requests for each path, type and task.
    private final ConcurrentMap<String, Integer> received = new ConcurrentHashMap<>();

    private final AtomicInteger requests = new AtomicInteger();
    private volatile CountDownLatch killed = new CountDownLatch(1);
    private volatile int blockedFrom;
    private HttpServer receiver;
    private Path home;

    @BeforeEach
    void start() throws IOException {
        home = Files.createTempDirectory("viv-killed").toRealPath();
        receiver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        receiver.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        receiver.createContext("/", this::receive);
        receiver.start();
    }

    @AfterEach
    void stop() throws IOException {
        killed.countDown();
        receiver.stop(0);
        ServerProcess.purge(home, "--provider", "process");
        FileTrees.delete(home);
    }

    /// Rejects the requests to `/dead`. Answers no other request between number `blockedFrom` and the kill.
    private void receive(HttpExchange exchange) throws IOException {
        try (exchange) {
            String path = exchange.getRequestURI().getPath();
            JsonFields event =
                    Json.answer(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
            received.merge(
                    path + " " + exchange.getRequestHeaders().getFirst("Vivarium-Event") + " "
                            + event.object("data").string("task_id"),
                    1,
                    Integer::sum);
            boolean isDead = path.equals("/dead");
            if (!isDead && requests.incrementAndGet() >= blockedFrom) {
                killed.await();
            }
            exchange.sendResponseHeaders(isDead ? 500 : 200, -1);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private String webhook(Api api, String path) {
        var answer = api.post(
                WEBHOOKS,
                "{\"url\":\"http://127.0.0.1:" + receiver.getAddress().getPort() + path
                        + "\",\"secret\":\"a secret of the test\",\"event_types\":[\"task.*\"]}");
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        return answer.json().string("webhook_id");
    }

    private static String task(Api api) {
        var answer = api.post("/api/v1/tasks", "{\"title\":\"a task\"}");
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        return answer.json().string("task_id");
    }

    @Test
    void everyEventArrivesAndDeadDeliveriesStayVisibleAcrossServerKills() {
        var tasks = new ArrayList<String>();
        String good = "";
        String dead = "";
        for (int kill = 0; kill < KILLS; kill++) {
            killed = new CountDownLatch(1);
            // The receiver answers some of the requests of this server, and not the later ones.
            blockedFrom = requests.get() + TASKS_PER_SERVER / 2;
            try (var server = ServerProcess.start(home, SERVER)) {
                if (kill == 0) {
                    good = webhook(server.api(), "/good");
                    dead = webhook(server.api(), "/dead");
                }
                for (int i = 0; i < TASKS_PER_SERVER; i++) {
                    tasks.add(task(server.api()));
                }
                await().until(() -> requests.get() >= blockedFrom);
            }
            killed.countDown();
        }
        blockedFrom = Integer.MAX_VALUE;
        try (var server = ServerProcess.start(home, SERVER)) {
            requireAll(server.api(), good, dead, tasks);
        }
    }

    private void requireAll(Api api, String good, String dead, List<String> tasks) {
        await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
            for (String task : tasks) {
                for (String type : List.of("task.pending", "task.ready")) {
                    assertThat(received).containsKeys("/good " + type + " " + task, "/dead " + type + " " + task);
                }
            }
        });
        int events = 2 * tasks.size();
        await().untilAsserted(
                        () -> assertThat(deliveries(api, good, "delivered")).hasSize(events));
        await().untilAsserted(() -> assertThat(deliveries(api, dead, "dead")).hasSize(events));
        assertThat(deliveries(api, dead, "dead"))
                .allMatch(one -> one.string("error").contains("status 500"));
        assertThat(received.values()).as("requests for one event").allMatch(times -> times <= 1 + KILLS);
    }

    private static List<JsonFields> deliveries(Api api, String webhook, String status) {
        return api.get(WEBHOOKS + "/" + webhook + "/deliveries?limit=1000&status=" + status)
                .json()
                .objects("deliveries");
    }
}
