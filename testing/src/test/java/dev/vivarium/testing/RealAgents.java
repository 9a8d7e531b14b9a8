package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.scripted.Script;
import dev.vivarium.scripted.ScriptedModel;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Fixture for agents with their real SDKs: a scripted model, and the arguments of a server whose gateway leads to it.
/// Confined to one thread.
final class RealAgents implements AutoCloseable {
    /// Key that the gateway adds. The sandbox must never see it.
    static final String KEY = "sk-real-4711-never-inside";

    static final String SANDBOXES = "/api/v1/sandboxes";
    private static final Duration TIMEOUT = Duration.ofMinutes(5);

    private final ScriptedModel model = ScriptedModel.start(Script.parse("{}"), 0);

    /// Server arguments that point the model gateway to the scripted model.
    String[] arguments(String... more) {
        var arguments = new ArrayList<>(List.of("--model-url", model.uri().toString()));
        arguments.addAll(List.of("--model-key", KEY, "--openai-url", model.uri().toString(), "--openai-key", KEY));
        arguments.addAll(List.of(more));
        // A test that kills a worker examines its sandbox afterwards.
        if (!arguments.contains("--max-restarts")) {
            arguments.addAll(List.of("--max-restarts", "0"));
        }
        return arguments.toArray(String[]::new);
    }

    /// Links the shared worker image into a home directory, and builds the image if it is missing.
    static void provideImage(Path home) {
        try {
            var script = Path.of("../scripts/worker-image").toRealPath();
            var process = new ProcessBuilder(script.toString())
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            var image = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            assertThat(process.waitFor()).as("scripts/worker-image").isZero();
            Files.createDirectories(home.resolve("images"));
            Files.createSymbolicLink(home.resolve("images/worker"), Path.of(image));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /// Sets the next answers of the model. Each answer reports 1000 input tokens and 50 output tokens.
    void play(Step... steps) {
        var script = new StringBuilder("{\"steps\":[");
        for (Step step : steps) {
            script.append(script.charAt(script.length() - 1) == '[' ? "" : ",").append(step.json());
        }
        model.play(Script.parse(
                script + "],\"otherwise\":" + Step.saying("All done.").json() + "}"));
    }

    /// All request bodies that the model received, in order.
    String asked() {
        return model.asked().stream().map(ScriptedModel.Asked::body).toList().toString();
    }

    @Override
    public void close() {
        model.close();
    }

    /// One answer of the model. `fields` holds the rest of its JSON.
    record Step(String fields) {
        static Step saying(String text) {
            return new Step("\"text\":" + quoted(text));
        }

        Step when(String prompt) {
            return new Step(fields + ",\"when\":{\"contains\":" + quoted(prompt) + "}");
        }

        Step unless(String prompt) {
            return new Step(fields + ",\"when\":{\"lacks\":" + quoted(prompt) + "}");
        }

        Step always() {
            return new Step(fields + ",\"times\":0");
        }

        /// Adds a call of the runtime's shell tool with this command.
        Step running(String runtime, String command) {
            var input = runtime.equals("openhands")
                    ? Map.of("command", command, "security_risk", "LOW", "summary", "as told")
                    : Map.of("command", command);
            return calling(runtime.equals("openhands") ? "terminal" : "Bash", input);
        }

        Step calling(String tool, Map<String, String> input) {
            var json = new String(Json.bytes(out -> input.forEach(out::writeStringProperty)), StandardCharsets.UTF_8);
            return new Step(fields + ",\"tools\":[{\"name\":\"" + tool + "\",\"input\":" + json + "}]");
        }

        private String json() {
            return "{\"usage\":{\"input_tokens\":1000,\"output_tokens\":50}," + fields + "}";
        }
    }

    private static String quoted(String text) {
        var json = new String(Json.bytes(out -> out.writeStringProperty("x", text)), StandardCharsets.UTF_8);
        return json.substring(json.indexOf(':') + 1, json.length() - 1);
    }

    /// One agent run, through the API of its server.
    record RealAgentRun(Api api, String sandbox) {
        static RealAgentRun spawn(Api api, String runtime, String title, String more) {
            var answer = api.post(
                    SANDBOXES,
                    "{\"task\":{\"title\":" + quoted(title) + "},\"runtime\":\"" + runtime + "\""
                            + (more.isEmpty() ? "" : "," + more) + "}");
            assertThat(answer.status()).as(answer.text()).isEqualTo(201);
            return new RealAgentRun(api, answer.json().string("sandbox_id"));
        }

        /// The same run through another server on the same home.
        RealAgentRun through(Api other) {
            return new RealAgentRun(other, sandbox);
        }

        JsonFields details() {
            return api.get(SANDBOXES + "/" + sandbox).json().object("sandbox");
        }

        List<JsonFields> events(String type) {
            return api.get(SANDBOXES + "/" + sandbox + "/events?limit=1000&type=" + type)
                    .json()
                    .objects("events");
        }

        List<String> types() {
            return api.get(SANDBOXES + "/" + sandbox + "/events?limit=1000").json().objects("events").stream()
                    .map(event -> event.string("event_type"))
                    .toList();
        }

        void send(String content, String kind) {
            var body = "{\"content\":" + quoted(content) + ",\"message_type\":\"" + kind + "\"}";
            assertThat(api.post(SANDBOXES + "/" + sandbox + "/messages", body).status())
                    .isEqualTo(202);
        }

        String shell(String command) {
            return api.execute(sandbox, command).string("stdout");
        }

        JsonFields awaitEvent(String type) {
            await().atMost(TIMEOUT).until(() -> !events(type).isEmpty() || hasEnded());
            assertThat(events(type)).as(() -> type + " in " + events("agent.")).isNotEmpty();
            return events(type).getFirst().object("event_data");
        }

        /// Waits for an event of that type with this path. File events arrive shortly after the change.
        JsonFields awaitEvent(String type, String path) {
            return await().atMost(TIMEOUT)
                    .until(
                            () -> events(type).stream()
                                    .map(event -> event.object("event_data"))
                                    .filter(data -> data.string("path").equals(path))
                                    .findFirst(),
                            Optional::isPresent)
                    .orElseThrow();
        }

        boolean hasEnded() {
            return !events("sandbox.run_ended").isEmpty();
        }

        JsonFields awaitEnd(String status) {
            await().atMost(TIMEOUT).until(this::hasEnded);
            var details = details();
            assertThat(details.string("status"))
                    .as(() -> details.text() + events(status.equals("completed") ? "agent." : "agent.error"))
                    .isEqualTo(status);
            return details;
        }
    }
}
