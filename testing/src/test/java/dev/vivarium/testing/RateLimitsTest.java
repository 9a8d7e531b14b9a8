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

/// How often a worker may call. Time stands still, so that what was used up does not fill again.
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
    void anEventTooManyIsRefusedWithTheTimeToWait() {
        for (int i = 0; i < 5; i++) {
            var answer = worker.post(events(), EVENT);
            assertThat(answer.status()).isEqualTo(201);
            assertThat(answer.headers().firstValue("RateLimit-Limit")).contains("5");
            assertThat(answer.headers().firstValue("RateLimit-Remaining")).contains(String.valueOf(4 - i));
        }
        var refused = worker.post(events(), EVENT);

        assertThat(refused.status()).isEqualTo(429);
        assertThat(refused.headers().firstValueAsLong("Retry-After").orElseThrow())
                .isEqualTo(12);
        assertThat(refused.headers().firstValue("RateLimit-Policy")).contains("\"events\";q=5;w=60");
        assertThat(refused.headers().firstValue("RateLimit").orElseThrow()).startsWith("\"events\";r=0;t=");
        assertThat(refused.json().string("error")).contains("Retry-After");
        assertThat(refused.json().string("type")).contains("rate-limited");
    }

    @Test
    void kindsAndSandboxesAreCountedApart() {
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
    void severalEventsInOneCallCountAsOne() {
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
    void tooManyBytesOfEventsAreRefusedWithTheTimeToWaitAndKeepNothing() {
        String large = EVENT.replace("{}", "{\"text\":\"" + "x".repeat(90_000) + "\"}");
        String most = "[" + (large + ",").repeat(9) + large + "]";
        assertThat(worker.post(events(), most).status()).isEqualTo(201);

        var refused = worker.post(events(), most);

        assertThat(refused.status()).isEqualTo(429);
        assertThat(refused.headers().firstValueAsLong("Retry-After").orElseThrow())
                .isBetween(1L, 60L);
        assertThat(refused.headers().firstValue("RateLimit-Policy")).contains("\"event-bytes\";q=1048576;w=60");
        assertThat(refused.json().string("error")).contains("1048576 bytes of events a minute", "Retry-After");
        assertThat(worker.post(events(), EVENT).status()).isEqualTo(201);
        assertThat(admin.get(events() + "?type=agent.&limit=1000").json().objects("events"))
                .hasSize(11);
    }

    @Test
    void pollsForMessagesAreCountedToo() {
        for (int i = 0; i < 3; i++) {
            assertThat(worker.get("/api/v1/sandboxes/" + sandbox + "/messages").status())
                    .isEqualTo(200);
        }
        assertThat(worker.get("/api/v1/sandboxes/" + sandbox + "/messages").status())
                .isEqualTo(429);
    }

    @Test
    void toOpenAStreamOfMessagesIsOnePollHoweverMuchItSays() throws Exception {
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
    void whoeverHasAKeyIsNotCounted() {
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
