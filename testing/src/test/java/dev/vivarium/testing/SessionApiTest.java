package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.json.JsonFields;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SessionApiTest {
    private static TestServer server;
    private static Api api;

    @BeforeAll
    static void start() {
        server = TestServer.start("--max-sandboxes", "60");
        api = server.api();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Test
    void aNewThreadGetsASession() {
        String thread = Api.thread();

        var answer = create(api, thread);

        assertThat(answer.status()).isEqualTo(201);
        var session = answer.json();
        assertThat(session.string("session_id")).matches("sbx[a-z0-9]{20}");
        assertThat(session.string("thread_id")).isEqualTo(thread);
        assertThat(session.string("status")).isEqualTo("created");
        assertThat(session.string("workspace_dir")).isEqualTo("/workspace");
        assertThat(session.string("user")).isEqualTo("sandboxuser");
        assertThat(session.time("expires_at")).isBefore(session.time("ends_at"));
        assertThat(session.string("expires_by")).isEqualTo("idle");
    }

    @Test
    void existingSessionOfAThreadIsReturned() {
        String thread = Api.thread();
        String id = create(api, thread).json().string("session_id");

        var again = create(api, thread);

        assertThat(again.status()).isEqualTo(409);
        assertThat(again.json().string("status")).isEqualTo("existing");
        assertThat(again.json().string("session_id")).isEqualTo(id);
        assertThat(again.json().time("created_at")).isNotNull();
        assertThat(again.json().time("last_activity")).isNotNull();
    }

    @Test
    void concurrentCallsForOneThreadCreateOneSession() throws Exception {
        String thread = Api.thread();
        Callable<Api.Answer> call = () -> create(api, thread);

        try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
            var answers =
                    callers.invokeAll(IntStream.range(0, 10).mapToObj(i -> call).toList());

            assertThat(answers.stream().map(a -> a.resultNow().status()))
                    .containsOnlyOnce(201)
                    .containsOnly(201, 409);
            assertThat(answers.stream()
                            .map(a -> a.resultNow().json().string("session_id"))
                            .distinct())
                    .hasSize(1);
        }
    }

    @Test
    void getSessionShowsTheSessionAndItsFiles() {
        String thread = Api.thread();
        String id = create(api, thread).json().string("session_id");
        api.execute(id, "touch a b");

        var answer = api.get("/get_session?thread_id=" + thread);

        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.json().string("status")).isEqualTo("active");
        assertThat(answer.json().string("session_id")).isEqualTo(id);
        assertThat(answer.json().integer("files_count")).isEqualTo(2);
    }

    @Test
    void readingASessionDoesNotExtendItsExpiry() {
        String thread = Api.thread();
        var created = create(api, thread).json();

        var seen = api.get("/get_session?thread_id=" + thread).json();

        assertThat(seen.time("expires_at")).isEqualTo(created.time("expires_at"));
    }

    @Test
    void aThreadWithoutASessionIsNotFound() {
        var answer = api.get("/get_session?thread_id=nobody%20here");

        assertThat(answer.status()).isEqualTo(404);
        assertThat(answer.json().string("error")).isEqualTo("No active session found for thread_id");
        assertThat(answer.json().string("thread_id")).isEqualTo("nobody here");
    }

    @Test
    void cleanupEndsTheSessionAndIsIdempotent() {
        String thread = Api.thread();
        String id = create(api, thread).json().string("session_id");

        for (int i = 0; i < 2; i++) {
            var answer = api.post("/cleanup", "{\"session_id\":\"" + id + "\"}");
            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.json().string("status")).isEqualTo("cleaned_up");
            assertThat(answer.json().string("session_id")).isEqualTo(id);
        }

        assertThat(api.get("/get_session?thread_id=" + thread).status()).isEqualTo(404);
        var late = api.post("/execute", Api.command(id, "true"));
        assertThat(late.status()).isEqualTo(404);
        assertThat(late.json().string("error")).isEqualTo("Invalid or expired session");
        assertThat(late.json().object("end").string("cause")).isEqualTo("user");
        assertThat(create(api, thread).status()).isEqualTo(201);
    }

    @Test
    void onlyTheOwnerSeesWhyASessionEnded() {
        var owner = api.as("u");
        String id = create(owner, Api.thread()).json().string("session_id");
        owner.post("/cleanup", "{\"session_id\":\"" + id + "\"}");

        assertThat(owner.post("/execute", Api.command(id, "true"))
                        .json()
                        .object("end")
                        .string("cause"))
                .isEqualTo("user");
        var stranger = api.as("mallory");
        var foreign = stranger.post("/execute", Api.command(id, "true"));
        assertThat(foreign.status()).isEqualTo(404);
        assertThat(foreign.text()).doesNotContain("end", "cause");
    }

    @ParameterizedTest
    @ValueSource(strings = {"nothing", "sbxaaaaaaaaaaaaaaaaaaaa", "../../etc", ""})
    void cleanupOfAnUnknownSessionSucceeds(String id) {
        assertThat(api.post("/cleanup", "{\"session_id\":\"" + id + "\"}").status())
                .isEqualTo(200);
    }

    @Test
    void anExpiredSessionIsReplaced() {
        String thread = Api.thread();
        String first = api.post("/create_session", request(thread, "\"timeout_minutes\":0.001"))
                .json()
                .string("session_id");

        await().until(() -> create(api, thread).status() == 201);

        assertThat(api.post("/execute", Api.command(first, "true")).status()).isEqualTo(404);
    }

    @Test
    void everyCommandGetsTheSessionsEnvironment() {
        String id = api.post("/create_session", request(Api.thread(), "\"env\":{\"WHO\":\"a €\\nb\"}"))
                .json()
                .string("session_id");

        assertThat(api.execute(id, "printf %s \"$WHO\"").string("stdout")).isEqualTo("a €\nb");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "\"timeout_minutes\":0 | timeout_minutes",
                "\"timeout_minutes\":-5 | timeout_minutes",
                "\"timeout_minutes\":\"30\" | timeout_minutes",
                "\"timeout_minutes\":1e9 | timeout_minutes",
                "\"env\":{\"LD_PRELOAD\":\"x\"} | env.LD_PRELOAD",
                "\"env\":{\"BASH_ENV\":\"x\"} | env.BASH_ENV",
                "\"env\":{\"A=B\":\"x\"} | env",
                "\"env\":{\"A\":1} | env.A",
                "\"env\":{\"A\":\"\\u0000\"} | env.A",
                "\"env\":[] | env",
                "\"limits\":{\"memory_mb\":1} | limits.memory",
                "\"limits\":{\"memory_mb\":1e12} | limits.memory_mb",
                "\"limits\":{\"cpus\":1000} | limits.cpus",
                "\"limits\":{\"processes\":1.5} | limits.processes",
                "\"limits\":{\"wings\":2} | limits.wings",
                "\"tiemout_minutes\":3 | tiemout_minutes",
            })
    void invalidFieldIsNamed(String more, String field) {
        String thread = Api.thread();

        var answer = api.post("/create_session", request(thread, more));

        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.json().string("field")).isEqualTo(field);
        assertThat(api.get("/get_session?thread_id=" + thread).status()).isEqualTo(404);
    }

    @ParameterizedTest
    @ValueSource(strings = {"\"\"", "\"  \"", "\"a\\nb\"", "\"a\\u0000\"", "\"\\ud800\"", "5", "null", "[\"t\"]"})
    void invalidThreadIdIsRejected(String name) {
        var answer = api.post("/create_session", "{\"user_id\":\"u\",\"thread_id\":" + name + "}");

        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.json().string("field")).isEqualTo("thread_id");
    }

    @Test
    void threadIdMayContainAnyUnicodeText() {
        String thread = Api.thread() + " Gespräch €/../𝄞?&#%";

        assertThat(create(api, thread).status()).isEqualTo(201);
        assertThat(create(api, thread).status()).isEqualTo(409);
    }

    @Test
    void sessionsOfOtherUsersAreNotFound() {
        Api anna = api.as("anna");
        Api bert = api.as("bert");
        String thread = Api.thread();
        String id = anna.post("/create_session", "{\"thread_id\":\"" + thread + "\"}")
                .json()
                .string("session_id");
        String unknown = "sbxaaaaaaaaaaaaaaaaaaaa";

        assertThat(bert.get("/get_session?thread_id=" + thread).text())
                .isEqualTo(bert.get("/get_session?thread_id=nobody").text().replace("nobody", thread));
        assertThat(bert.post("/create_session", "{\"thread_id\":\"" + thread + "\"}")
                        .status())
                .isEqualTo(201);
        assertThat(bert.post("/execute", Api.command(id, "id")).text())
                .isEqualTo(
                        bert.post("/execute", Api.command(unknown, "id")).text().replace(unknown, id));
        assertThat(bert.download(id, "x").text())
                .isEqualTo(bert.download(unknown, "x").text().replace(unknown, id));
        assertThat(bert.upload(id, "x", "y").text())
                .isEqualTo(bert.upload(unknown, "x", "y").text().replace(unknown, id));
        assertThat(bert.get("/list_files?session_id=" + id).text())
                .isEqualTo(bert.get("/list_files?session_id=" + unknown).text().replace(unknown, id));
        assertThat(bert.post("/cleanup", "{\"session_id\":\"" + id + "\"}").status())
                .isEqualTo(200);
        assertThat(anna.execute(id, "echo still here").string("stdout")).isEqualTo("still here\n");
    }

    @Test
    void aUsersKeyActsForItsOwnUserOnly() {
        Api anna = api.as("anna");

        assertThat(anna.post("/create_session", "{\"user_id\":\"bert\",\"thread_id\":\"x\"}")
                        .status())
                .isEqualTo(403);
        assertThat(anna.get("/admin/keys").status()).isEqualTo(403);
        assertThat(anna.post("/admin/keys", "{\"user_id\":\"anna\"}").status()).isEqualTo(403);
    }

    @Test
    void adminActsForAnyUser() {
        String thread = Api.thread();
        api.as("anna").post("/create_session", "{\"thread_id\":\"" + thread + "\"}");

        assertThat(api.get("/get_session?thread_id=" + thread).status()).isEqualTo(200);
        assertThat(api.post("/create_session", "{\"user_id\":\"anna\",\"thread_id\":\"" + thread + "\"}")
                        .status())
                .isEqualTo(409);
        assertThat(api.post("/create_session", "{\"user_id\":\"bert\",\"thread_id\":\"" + thread + "\"}")
                        .status())
                .isEqualTo(201);
    }

    @Test
    void keysAreIssuedListedAndRevoked() {
        var issued = api.post("/admin/keys", "{\"user_id\":\"carla\"}");
        assertThat(issued.status()).isEqualTo(201);
        String keyId = issued.json().string("key_id");
        Api carla = api.with(issued.json().string("key"));
        assertThat(carla.get("/get_session?thread_id=none").status()).isEqualTo(404);
        assertThat(api.get("/admin/keys").text())
                .contains(keyId)
                .doesNotContain(issued.json().string("key"));

        assertThat(api.method("DELETE", "/admin/keys/" + keyId).status()).isEqualTo(200);

        assertThat(carla.get("/get_session?thread_id=none").status()).isEqualTo(401);
        assertThat(api.method("DELETE", "/admin/keys/" + keyId).status()).isEqualTo(404);
    }

    @Test
    void keyIsListedWithItsLabelItsExpiryAndItsLastUse() {
        String body = "{\"user_id\":\"dora\",\"label\":\"laptop\",\"expires_at\":\"2999-01-01T00:00:00Z\"}";
        var issued = api.post("/admin/keys", body).json();
        var unused = listedKey(issued.string("key_id"));
        assertThat(unused.string("label")).isEqualTo("laptop");
        assertThat(unused.string("expires_at")).isEqualTo("2999-01-01T00:00:00Z");
        assertThat(unused.optionalTime("last_used_at")).isEmpty();

        api.with(issued.string("key")).get("/threads");

        assertThat(listedKey(issued.string("key_id")).optionalTime("last_used_at"))
                .isPresent();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"expires_at\":\"2001-01-01T00:00:00Z\"",
                "\"expires_at\":\"+1000000000-12-31T23:59:59Z\"",
                "\"label\":\"\"",
                "\"label\":\"two\\nlines\""
            })
    void invalidKeyDetailsAreUnprocessable(String detail) {
        var answer = api.post("/admin/keys", "{\"user_id\":\"erik\"," + detail + "}");

        assertThat(answer.status()).isEqualTo(422);
        assertThat(answer.json().string("field")).isIn("label", "expires_at");
        assertThat(api.get("/admin/keys").text()).doesNotContain("erik");
    }

    private static JsonFields listedKey(String keyId) {
        return api.get("/admin/keys").json().objects("keys").stream()
                .filter(key -> key.string("key_id").equals(keyId))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void fullServerReturnsRetryAfter() {
        try (var small = TestServer.start("--max-sandboxes", "1")) {
            Api full = small.api();
            full.session();

            var answer = create(full, Api.thread());

            assertThat(answer.status()).isEqualTo(503);
            assertThat(answer.headers().firstValue("Retry-After")).isPresent();
            assertThat(full.get("/health").status()).isEqualTo(200);
        }
    }

    @Test
    void healthNeedsNoKeyAndReportsTheServerState() {
        var answer = api.with("not a key").get("/health");

        assertThat(answer.status()).isEqualTo(200);
        var health = answer.json();
        assertThat(health.string("status")).isEqualTo("healthy");
        assertThat(health.flag("redis_connected")).isFalse();
        assertThat(health.object("provider").string("name")).isEqualTo("process");
        for (String number : List.of("pool_size", "pool_available", "active_sessions", "uptime_seconds")) {
            assertThat(health.integer(number)).isNotNegative();
        }
    }

    @Test
    void sessionSurvivesAServerRestart() {
        try (var restarted = TestServer.start()) {
            String thread = Api.thread();
            String id = create(restarted.api(), thread).json().string("session_id");
            restarted.api().execute(id, "echo kept > file");

            restarted.restart();

            assertThat(restarted.api().execute(id, "cat file").string("stdout")).isEqualTo("kept\n");
        }
    }

    @Test
    void metricsCountSessionsAndCommands() {
        String id = api.session();
        api.execute(id, "true");
        api.execute(id, "false");

        assertThat(api.get("/metrics").text())
                .contains("vivarium_sessions_active ")
                .contains("vivarium_session_creation_seconds_count{origin=\"cold\"}")
                .contains("vivarium_commands_total{outcome=\"ok\"}")
                .contains("vivarium_commands_total{outcome=\"nonzero\"}")
                .contains("vivarium_command_duration_seconds_bucket")
                .contains("vivarium_pool_utilization")
                .contains("jvm_memory_used_bytes");
    }

    private static Api.Answer create(Api caller, String thread) {
        return caller.post("/create_session", request(thread, "\"timeout_minutes\":30"));
    }

    private static String request(String thread, String more) {
        String named = Api.command("", thread).replaceAll("(?s).*\"command\":(\".*\")}", "$1");
        return "{\"user_id\":\"u\",\"thread_id\":" + named + "," + more + "}";
    }
}
