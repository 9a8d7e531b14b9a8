package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.access.WorkerGrant.Audience;
import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.TaskId;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

/// A run of the real worker with the runtime `command`.
final class AgentRun {
    static final String SANDBOXES = "/api/v1/sandboxes";

    private final TestServer server;
    private final JsonFields spawned;

    private AgentRun(TestServer server, JsonFields spawned) {
        this.server = server;
        this.spawned = spawned;
    }

    /// Starts a shell script as an agent. `more` holds more fields of the request.
    static AgentRun of(TestServer server, String script, String more) {
        var answer = server.api().post(SANDBOXES, body(script, more));
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        return new AgentRun(server, answer.json());
    }

    static AgentRun of(TestServer server, String script) {
        return of(server, script, "");
    }

    /// Body of a request that starts a shell script as an agent.
    static String body(String script, String more) {
        String fields = new String(
                Json.bytes(out -> {
                    out.writeObjectPropertyStart("task");
                    out.writeStringProperty("title", "a task");
                    out.writeEndObject();
                    out.writeStringProperty("runtime", "command");
                    out.writeArrayPropertyStart("command");
                    List.of("sh", "-c", script).forEach(out::writeString);
                    out.writeEndArray();
                }),
                StandardCharsets.UTF_8);
        return more.isEmpty() ? fields : fields.substring(0, fields.length() - 1) + "," + more + "}";
    }

    String id() {
        return spawned.string("sandbox_id");
    }

    String task() {
        return spawned.string("task_id");
    }

    JsonFields answer() {
        return spawned;
    }

    String path() {
        return SANDBOXES + "/" + id();
    }

    JsonFields sandbox() {
        return server.api().get(path()).json().object("sandbox");
    }

    JsonFields run() {
        return sandbox().object("run");
    }

    /// All events whose type starts with `type`, as text.
    String events(String type) {
        return server.api().get(path() + "/events?limit=1000&type=" + type).text();
    }

    void awaitStatus(String status) {
        await().atMost(Duration.ofSeconds(60))
                .untilAsserted(() -> assertThat(sandbox().string("status")).isEqualTo(status));
    }

    void awaitEvent(String type) {
        await().atMost(Duration.ofSeconds(60))
                .untilAsserted(() -> assertThat(events(type)).contains("\"" + type + "\""));
    }

    /// The API with a worker token of this run.
    Api worker() {
        return server.api().with(token(Audience.WORKER));
    }

    String token(Audience audience) {
        return server.workerToken(id(), new TaskId(task()), audience);
    }

    /// Sends JSON with this method, and with an `Idempotency-Key` unless the key is empty.
    static Api.Answer send(Api api, String method, String path, String json, String key) {
        var request = api.request(path).header("Content-Type", "application/json");
        if (!key.isEmpty()) {
            request.header("Idempotency-Key", key);
        }
        return Api.send(request.method(method, BodyPublishers.ofString(json)));
    }
}
