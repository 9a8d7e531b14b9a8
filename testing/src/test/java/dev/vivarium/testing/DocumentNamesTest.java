package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.json.JsonFields;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/// Names of the source documents that differ from the names of this server.
class DocumentNamesTest {
    @RegisterExtension
    static final SharedServer SERVER = SharedServer.with();

    private final Api api = SERVER.api();
    private String sandbox;

    @BeforeEach
    void spawn() {
        sandbox = api.post(
                        "/api/v1/sandboxes",
                        "{\"task\":{\"title\":\"t\",\"ticket_id\":\"TICKET-1\"},\"agent_type\":\"coder\","
                                + "\"runtime\":\"command\",\"command\":[\"/bin/sh\",\"-c\",\"echo a > made\"]}")
                .json()
                .string("sandbox_id");
    }

    @Test
    void ticketAndAgentTypeAreKeptWithTheTask() {
        var task = details().object("run").object("task");

        assertThat(task.string("ticket_id")).isEqualTo("TICKET-1");
        assertThat(task.string("agent_type")).isEqualTo("coder");
        assertThat(task.object("context").text()).contains("TICKET-1", "coder");
    }

    @Test
    void sandboxHasTheFieldsOfTheDocument() {
        await().until(() -> details().optionalTime("completed_at").isPresent());
        var found = details();
        var run = found.object("run");

        assertThat(found.string("agent_id")).isEqualTo(run.string("run_id"));
        assertThat(found.integer("total_tokens")).isEqualTo(run.integer("tokens"));
        assertThat(found.integer("tool_calls_count")).isEqualTo(run.integer("tool_calls"));
        assertThat(found.optionalNumber("total_cost_usd")).isPresent();
        assertThat(found.integer("retry_count")).isZero();
        assertThat(found.time("completed_at")).isEqualTo(run.time("ended_at"));
        assertThat(found.optionalTime("last_event_at")).isPresent();
        assertThat(found.string("preview_url")).endsWith("/sandboxes/" + sandbox + "/ports/{port}/");
        assertThat(api.get("/api/v1/sandboxes?status=completed&limit=1000").text())
                .contains("/sandboxes/" + sandbox + "/ports/{port}/");
    }

    @Test
    void eventsCanBeFilteredByEventTypeAndHaveAnAction() {
        String events = "/api/v1/sandboxes/" + sandbox + "/events?event_type=file.created";
        await().until(() -> !api.get(events).json().objects("events").isEmpty());

        assertThat(api.get(events).json().objects("events")).allSatisfy(event -> {
            assertThat(event.string("event_type")).isEqualTo("file.created");
            assertThat(event.object("event_data").string("action")).isEqualTo("created");
        });
    }

    private JsonFields details() {
        return api.get("/api/v1/sandboxes/" + sandbox).json().object("sandbox");
    }
}
