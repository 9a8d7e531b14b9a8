package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/// Records the trajectories for the tests of the guardian in `core`. Each is a real run in a real sandbox: a scripted
/// agent executes its commands and edits, and the server writes the log. Run it with `-Dviv.record=true`.
@EnabledIfSystemProperty(named = "viv.record", matches = "true")
class TrajectoryRecorder {
    private static final Path TARGET = Path.of("../core/src/test/resources/dev/vivarium/core/guard/trajectory");
    private static final int LONGEST = 400;

    private static final Set<String> TYPES = Set.of(
            "agent.tool_use",
            "agent.tool_result",
            "agent.error",
            "agent.usage",
            "file.created",
            "file.modified",
            "file.deleted");

    /// Executes the steps of its first argument and reports them as the workers of the agents do.
    private static final String AGENT = """
            import json, os, subprocess, sys, time
            def report(kind, **data):
                print(json.dumps({"type": "event", "event_type": kind, "data": data}), flush=True)
            def result(call, tool, failed, text, **more):
                report("agent.tool_result", tool_use_id=call, tool_name=tool, content=text, is_error=failed, **more)
            for number, (kind, *words) in enumerate(json.loads(sys.argv[1])):
                call = f"call_{number}"
                if kind == "sh":
                    report("agent.tool_use", tool_use_id=call, tool_name="Bash", tool_input={"command": words[0]},
                           shell_command=words[0], status="running")
                    done = subprocess.run(["sh", "-c", words[0]], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                          text=True)
                    text = done.stdout[-4000:]
                    result(call, "Bash", done.returncode != 0, text, exit_code=done.returncode, output=text)
                elif kind == "write":
                    report("agent.tool_use", tool_use_id=call, tool_name="Write",
                           tool_input={"file_path": words[0], "content": words[1]}, status="running")
                    os.makedirs(os.path.dirname(words[0]) or ".", exist_ok=True)
                    with open(words[0], "w") as file:
                        file.write(words[1])
                    time.sleep(0.3)
                    result(call, "Write", False, "written")
                elif kind == "refused":
                    report("agent.tool_use", tool_use_id=call, tool_name=words[0], tool_input={"url": words[1]},
                           status="running")
                    result(call, words[0], True, "the task allows only Read")
                elif kind == "usage":
                    print(json.dumps({"type": "usage", "cost_usd": words[0]}), flush=True)
                elif kind == "wait":
                    time.sleep(words[0])
                time.sleep(0.05)
            """;

    @Test
    void record() throws IOException {
        try (var server = TestServer.start("--rate-limits", "off", "--guardian", "off")) {
            for (boolean isHealthy : List.of(true, false)) {
                var lines = new ArrayList<String>();
                for (TrajectoryScenario scenario : TrajectoryScenario.all()) {
                    if (scenario.isHealthy() == isHealthy) {
                        lines.addAll(record(server, scenario));
                    }
                }
                Files.createDirectories(TARGET);
                Files.writeString(
                        TARGET.resolve(isHealthy ? "healthy.jsonl" : "ill.jsonl"), String.join("\n", lines) + "\n");
            }
        }
    }

    private static List<String> record(TestServer server, TrajectoryScenario scenario) {
        var answer = server.api().post(AgentRun.SANDBOXES, body(scenario));
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        String path = AgentRun.SANDBOXES + "/" + answer.json().string("sandbox_id");
        await().atMost(Duration.ofMinutes(2))
                .until(() -> server.api()
                                .get(path + "/events?type=sandbox.run_ended")
                                .json()
                                .objects("events")
                                .size()
                        == 1);
        var lines = new ArrayList<String>();
        lines.add(header(scenario));
        Instant start = Instant.parse(
                server.api().get(path).json().object("sandbox").object("run").string("started_at"));
        var events = server.api().get(path + "/events?limit=1000").json().objects("events");
        assertThat(events).as(scenario.name()).hasSizeLessThan(1000);
        events.stream()
                .filter(event -> TYPES.contains(event.string("event_type")))
                .forEach(event -> lines.add(line(event, start)));
        server.api().method("DELETE", path);
        return lines;
    }

    private static String body(TrajectoryScenario scenario) {
        return text(Json.bytes(out -> {
            out.writeObjectPropertyStart("task");
            out.writeStringProperty("title", scenario.name());
            out.writeName("constraints");
            out.writeRawValue(scenario.constraints());
            out.writeEndObject();
            out.writeStringProperty("runtime", "command");
            out.writeArrayPropertyStart("command");
            List.of("python3", "-c", AGENT, scenario.plan()).forEach(out::writeString);
            out.writeEndArray();
        }));
    }

    private static String header(TrajectoryScenario scenario) {
        return text(Json.bytes(out -> {
            out.writeStringProperty("name", scenario.name());
            out.writeBooleanProperty("healthy", scenario.isHealthy());
            out.writeStringProperty("story", scenario.story());
            out.writeStringProperty("runtime", "command");
            out.writeName("constraints");
            out.writeRawValue(scenario.constraints());
            if (scenario.budgetUsd() > 0) {
                out.writeNumberProperty("budget_usd", scenario.budgetUsd());
            }
            out.writeArrayPropertyStart("rules");
            scenario.rules().forEach(out::writeString);
            out.writeEndArray();
        }));
    }

    private static String line(JsonFields event, Instant start) {
        long millis = Duration.between(start, Instant.parse(event.string("created_at")))
                .toMillis();
        return text(Json.bytes(out -> {
            out.writeNumberProperty("seq", event.integer("seq"));
            out.writeNumberProperty("ms", Math.max(0, millis));
            out.writeStringProperty("type", event.string("event_type"));
            out.writeStringProperty("source", event.string("source"));
            out.writeName("data");
            out.writeRawValue(data(event.object("event_data")));
        }));
    }

    /// The fields that the guardian reads, with short texts.
    private static String data(JsonFields data) {
        JsonFields kept = Json.answer(data.text(Set.of(
                "tool_use_id",
                "tool_name",
                "tool_input",
                "shell_command",
                "is_error",
                "exit_code",
                "output",
                "path",
                "action",
                "size",
                "sha256",
                "directory",
                "type",
                "input_tokens",
                "output_tokens",
                "cost_usd")));
        for (String name : List.of("output", "sha256")) {
            var text = kept.optionalString(name);
            if (text.isPresent()) {
                int max = name.equals("sha256") ? 12 : LONGEST;
                kept = kept.with(
                        name, text.get().substring(Math.max(0, text.get().length() - max)));
            }
        }
        return kept.text();
    }

    private static String text(byte[] json) {
        return new String(json, StandardCharsets.UTF_8);
    }
}
