package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.json.JsonFields;
import dev.vivarium.model.SandboxId;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Hibernated sandboxes through the API: what they show, and which calls start them again. Needs root.
@Tag("root")
class HibernationApiTest {
    private final String thread = Api.thread();
    private TestServer server;
    private Api api;
    private String session;

    @BeforeEach
    void start() {
        server = TestServer.startIsolated("--memory-mb", "128", "--disk-mb", "64", "--max-sandboxes", "1");
        api = server.api();
    }

    @AfterEach
    void stop() {
        server.close();
    }

    @Test
    void hibernatedSandboxIsShownAsSuchAndTheNextCommandFindsItsFiles() {
        hibernate();

        JsonFields found = api.get("/get_session?thread_id=" + thread).json();
        assertThat(found.string("session_id")).isEqualTo(session);
        assertThat(found.string("status")).isEqualTo("hibernated");
        assertThat(found.string("on_idle")).isEqualTo("hibernate");
        assertThat(found.string("state_reason")).startsWith("idle: unused since");
        assertThat(found.integer("files_count")).isOne();
        assertThat(found.time("expires_at")).isEqualTo(found.time("ends_at"));
        JsonFields shown = api.get("/threads/" + thread + "/sandbox").json();
        assertThat(shown.string("state")).isEqualTo("hibernated");
        assertThat(sandbox().string("status")).isEqualTo("hibernated");
        assertThat(sandbox().string("expires_by")).isEqualTo("hibernated");
        assertThat(api.get("/api/v1/sandboxes?status=hibernated").json().objects("sandboxes"))
                .hasSize(1);
        await().untilAsserted(() -> assertThat(events("sandbox.hibernated")).hasSize(1));
        assertThat(api.get("/metrics?format=prometheus").text()).contains("vivarium_sessions_hibernated 1");
        assertThat(api.get("/health").json().integer("active_sessions")).isZero();

        assertThat(api.execute(session, "cat kept").string("stdout")).isEqualTo("kept\n");

        await().untilAsserted(() -> assertThat(events("sandbox.woken")).isNotEmpty());
    }

    @Test
    void hibernatedSandboxLeavesOnlyItsDiskOnTheHost() {
        hibernate();
        String disk = "file " + server.home().resolve("disks").resolve(session + ".");

        await().untilAsserted(() -> assertThat(HostTraces.of(new SandboxId(session), server.home()))
                .isNotEmpty()
                .allMatch(trace -> trace.startsWith(disk)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"create", "thread", "read", "write", "list", "shell", "resume", "heartbeat"})
    void everyKindOfCallStartsIt(String call) {
        hibernate();
        Api.Answer answer = switch (call) {
            case "create" -> api.post("/create_session", request("{}"));
            case "thread" -> api.post("/threads/" + thread + "/sandbox", "{}");
            case "read" -> api.get("/sandboxes/" + session + "/files/kept");
            case "write" ->
                Api.send(api.request("/sandboxes/" + session + "/files/new").PUT(BodyPublishers.ofString("x")));
            case "list" -> api.get("/list_files?session_id=" + session);
            case "shell" -> api.post("/sandboxes/" + session + "/shells", "{}");
            case "resume" -> api.post("/sandboxes/" + session + "/resume", "{}");
            default -> api.post("/threads/" + thread + "/heartbeat", "{}");
        };
        assertThat(answer.status()).isIn(200, 201, 204, 409);
        // It may hibernate again at once, because its idle timeout is short.
        await().untilAsserted(() -> assertThat(events("sandbox.woken")).isNotEmpty());
        assertThat(api.execute(session, "cat kept").string("stdout")).isEqualTo("kept\n");
    }

    @Test
    void callFailsWhileTheServerIsFullAndTheDiskStays() {
        hibernate();
        String other = api.session();

        Api.Answer refused = api.post("/execute", Api.command(session, "cat kept"));

        assertThat(refused.status()).isEqualTo(503);
        assertThat(refused.json().string("error")).contains("all 1 sandboxes are in use");
        assertThat(sandbox().string("state")).isEqualTo("hibernated");
        api.post("/cleanup", "{\"session_id\":\"" + other + "\"}");
        assertThat(api.execute(session, "cat kept").string("stdout")).isEqualTo("kept\n");
    }

    @Test
    void snapshotOfAHibernatedSandboxHasItsFilesAndDoesNotStartIt() {
        hibernate();
        Api.Answer taken = api.post("/threads/" + thread + "/snapshots", "{\"name\":\"asleep\"}");
        assertThat(taken.status()).isEqualTo(201);
        assertThat(sandbox().string("state")).isEqualTo("hibernated");

        String fork = Api.thread();
        Api.Answer forked = api.post(
                "/threads/" + thread + "/snapshots/" + taken.json().string("snapshot_id") + "/fork",
                "{\"thread_id\":\"" + fork + "\",\"user_id\":\"u\"}");

        assertThat(forked.status()).isEqualTo(201);
        JsonFields found = api.get("/get_session?thread_id=" + fork).json();
        assertThat(found.string("on_idle")).isEqualTo("hibernate");
        assertThat(api.execute(found.string("session_id"), "cat kept").string("stdout"))
                .isEqualTo("kept\n");
    }

    @Test
    void idleSessionEndsByDefault() {
        session = api.post("/create_session", request("{\"timeout_minutes\":0.01}"))
                .json()
                .string("session_id");
        await().until(() -> api.get("/get_session?thread_id=" + thread).status() == 404);
    }

    @Test
    void otherPolicyForAnExistingSandboxIsRejectedLikeOtherOptions() {
        String path = "/threads/" + thread + "/sandbox";
        assertThat(api.post(path, "{\"on_idle\":\"end\",\"timeout_minutes\":20}")
                        .status())
                .isEqualTo(200);

        assertThat(api.post(path, "{\"on_idle\":\"end\"}").status()).isEqualTo(200);
        var answers =
                List.of(api.post(path, "{\"on_idle\":\"hibernate\"}"), api.post(path, "{\"timeout_minutes\":21}"));
        assertThat(answers).extracting(Api.Answer::status).containsExactly(400, 400);
        assertThat(answers)
                .extracting(answer -> answer.json().string("field"))
                .containsExactly("on_idle", "timeout_minutes");
    }

    @ParameterizedTest
    @ValueSource(strings = {"\"sleep\"", "\"\"", "1", "\"HIBERNATE\""})
    void unknownPolicyIsRejected(String policy) {
        String onIdle = "\"on_idle\":" + policy;
        List<Api.Answer> answers = List.of(
                api.post("/create_session", request("{" + onIdle + "}")),
                api.post("/threads/" + thread + "/sandbox", "{" + onIdle + "}"),
                api.post(
                        "/api/v1/sandboxes",
                        "{\"task\":{\"title\":\"t\"},\"runtime\":\"command\",\"command\":[\"true\"]," + onIdle + "}"));
        assertThat(answers).extracting(Api.Answer::status).containsExactly(400, 400, 422);
        assertThat(answers)
                .allSatisfy(answer -> assertThat(answer.json().string("field")).isEqualTo("on_idle"));
    }

    /// A session with the file `kept` that nobody used for its idle timeout.
    private void hibernate() {
        session = api.post("/create_session", request("{\"timeout_minutes\":0.02,\"on_idle\":\"hibernate\"}"))
                .json()
                .string("session_id");
        api.execute(session, "echo kept > kept");
        await().until(() -> sandbox().string("state").equals("hibernated"));
    }

    private String request(String more) {
        String rest = more.substring(1, more.length() - 1);
        return "{\"user_id\":\"u\",\"thread_id\":\"" + thread + "\"" + (rest.isEmpty() ? "" : "," + rest) + "}";
    }

    private JsonFields sandbox() {
        return api.get("/api/v1/sandboxes/" + session).json().object("sandbox");
    }

    private List<JsonFields> events(String type) {
        return api.get("/api/v1/sandboxes/" + session + "/events?type=" + type)
                .json()
                .objects("events");
    }
}
