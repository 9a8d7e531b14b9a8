package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.core.access.WorkerGrant.Audience;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.http.HttpClient;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/// Rate limits of workers. The clock stands still, so the buckets do not refill.
class RateLimitsTest {
    private static final String EVENT = "{\"event_type\":\"agent.message\",\"event_data\":{}}";

    @RegisterExtension
    static final SharedServer SERVER = SharedServer.with(
            TestServer::withoutRefills,
            "--rate-events",
            "5",
            "--rate-event-mb",
            "1",
            "--rate-heartbeats",
            "2",
            "--rate-messages",
            "3",
            "--rate-others",
            "2");

    private final Api admin = SERVER.api();
    private String sandbox;
    private Api worker;

    @BeforeEach
    void open() {
        sandbox = admin.session();
        worker = admin.with(SERVER.get().workerToken(sandbox, Audience.WORKER));
    }

    @Test
    void excessEventIsRejectedWithRetryAfter() {
        for (int i = 0; i < 5; i++) {
            var answer = worker.post(events(), EVENT);
            assertThat(answer.status()).isEqualTo(201);
            assertThat(answer.headers().firstValue("RateLimit-Limit")).contains("5");
            assertThat(answer.headers().firstValue("RateLimit-Remaining")).contains(String.valueOf(4 - i));
        }
        var rejected = worker.post(events(), EVENT);

        assertThat(rejected.status()).isEqualTo(429);
        assertThat(rejected.headers().firstValueAsLong("Retry-After").orElseThrow())
                .isEqualTo(12);
        assertThat(rejected.headers().firstValue("RateLimit-Policy")).contains("\"events\";q=5;w=60");
        assertThat(rejected.headers().firstValue("RateLimit").orElseThrow()).startsWith("\"events\";r=0;t=");
        assertThat(rejected.json().string("error")).contains("Retry-After");
        assertThat(rejected.json().string("type")).contains("rate-limited");
    }

    @Test
    void kindsAndSandboxesHaveSeparateLimits() {
        for (int i = 0; i < 6; i++) {
            worker.post(events(), EVENT);
        }
        assertThat(worker.post(events(), EVENT).status()).isEqualTo(429);
        assertThat(worker.get("/api/v1/sandboxes/" + sandbox + "/messages").status())
                .isEqualTo(200);
        String other = admin.session();
        Api otherWorker = admin.with(SERVER.get().workerToken(other, Audience.WORKER));
        assertThat(otherWorker
                        .post("/api/v1/sandboxes/" + other + "/events", EVENT)
                        .status())
                .isEqualTo(201);
    }

    @Test
    void batchOfEventsCountsAsOneCall() {
        String many = "[" + (EVENT + ",").repeat(99) + EVENT + "]";
        for (int i = 0; i < 5; i++) {
            var answer = worker.post(events(), many);
            assertThat(answer.status()).isEqualTo(201);
            assertThat(answer.json().objects("events")).hasSize(100);
        }
        assertThat(worker.post(events(), many).status()).isEqualTo(429);
        assertThat(admin.get(events() + "?type=agent.&limit=1000").json().objects("events"))
                .hasSize(500);
    }

    @Test
    void excessEventBytesAreRejectedWithRetryAfter() {
        String large = EVENT.replace("{}", "{\"text\":\"" + "x".repeat(90_000) + "\"}");
        String batch = "[" + (large + ",").repeat(9) + large + "]";
        assertThat(worker.post(events(), batch).status()).isEqualTo(201);

        var rejected = worker.post(events(), batch);

        assertThat(rejected.status()).isEqualTo(429);
        assertThat(rejected.headers().firstValueAsLong("Retry-After").orElseThrow())
                .isBetween(1L, 60L);
        assertThat(rejected.headers().firstValue("RateLimit-Policy")).contains("\"event-bytes\";q=1048576;w=60");
        assertThat(rejected.json().string("error")).contains("1048576 bytes of events a minute", "Retry-After");
        assertThat(worker.post(events(), EVENT).status()).isEqualTo(201);
        assertThat(admin.get(events() + "?type=agent.&limit=1000").json().objects("events"))
                .hasSize(11);
    }

    @Test
    void messagePollsAreLimited() {
        for (int i = 0; i < 3; i++) {
            assertThat(worker.get("/api/v1/sandboxes/" + sandbox + "/messages").status())
                    .isEqualTo(200);
        }
        assertThat(worker.get("/api/v1/sandboxes/" + sandbox + "/messages").status())
                .isEqualTo(429);
    }

    @Test
    void messageStreamCountsAsOnePoll() throws Exception {
        String messages = "/api/v1/sandboxes/" + sandbox + "/messages";
        try (var client = HttpClient.newHttpClient()) {
            var request = worker.request(messages)
                    .header("Accept", "application/x-ndjson")
                    .build();
            var answer = client.send(request, BodyHandlers.ofInputStream());
            assertThat(answer.headers().firstValue("RateLimit-Remaining")).contains("2");
            try (var lines = new BufferedReader(new InputStreamReader(answer.body(), StandardCharsets.UTF_8))) {
                for (int i = 0; i < 10; i++) {
                    admin.post(messages, "{\"content\":\"hello\"}");
                    assertThat(lines.readLine()).isNotNull();
                }
            }
            client.shutdownNow();
        }
        assertThat(worker.get(messages).headers().firstValue("RateLimit-Remaining"))
                .contains("1");
    }

    @Test
    void callsWithAKeyAreNotLimited() {
        for (int i = 0; i < 10; i++) {
            var answer = admin.post(events(), EVENT);
            assertThat(answer.status()).isEqualTo(201);
            assertThat(answer.headers().firstValue("RateLimit")).isEmpty();
        }
    }

    private String events() {
        return "/api/v1/sandboxes/" + sandbox + "/events";
    }
}
