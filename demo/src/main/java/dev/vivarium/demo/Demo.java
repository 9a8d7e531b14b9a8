package dev.vivarium.demo;

import dev.vivarium.cli.run.Feed;
import dev.vivarium.cli.run.Runs;
import dev.vivarium.cli.run.Story;
import dev.vivarium.json.JsonFields;
import dev.vivarium.scripted.Script;
import dev.vivarium.sdk.http.Transport;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;
import tools.jackson.core.JsonGenerator;

/// One run from its start to its end, watched by a person who changes their mind in the middle. Confined to one worker.
final class Demo {
    private static final String TASK =
            "Write convert.py, which prints the temperatures of three cities in Fahrenheit, and run it";
    private static final String CHANGE_OF_MIND = "Use Celsius, please; nobody here reads Fahrenheit.";

    /// The call in whose middle the person speaks.
    private static final int SPEAKS_AT = 2;

    private final PrintStream out;
    private final Story commandEvents;
    private final Transport http;
    private final boolean isClaude;
    private int calls;
    private boolean completed;

    Demo(DemoServer server, PrintStream out, boolean coloured, boolean isClaude) {
        this.out = out;
        this.commandEvents = new Story(out, coloured);
        this.http = new Transport(server.uri(), server.key());
        this.isClaude = isClaude;
    }

    /// What the model says.
    static Script script() {
        return Script.parse(resource("script.json"));
    }

    /// Reports whether the agent completed its task.
    boolean play() {
        out.println("task     " + TASK);
        String sandbox = http.post(Runs.PATH, this::spawn, fields -> fields).string("sandbox_id");
        new Feed(http, sandbox, "", 0).follow(event -> {
            commandEvents.tell(event);
            if (event.string("event_type").equals("agent.tool_use") && ++calls == SPEAKS_AT) {
                speak(sandbox);
            }
            if (Story.isEnd(event)) {
                completed = event.object("event_data").string("status").equals("completed");
                return false;
            }
            return true;
        });
        return completed;
    }

    private void speak(String sandbox) {
        http.post(
                Runs.path(sandbox) + "/messages",
                json -> json.writeStringProperty("content", CHANGE_OF_MIND),
                JsonFields::text);
    }

    private void spawn(JsonGenerator json) {
        json.writeObjectPropertyStart("task");
        json.writeStringProperty("title", TASK);
        json.writeEndObject();
        json.writeStringProperty("runtime", isClaude ? "claude" : "command");
        if (!isClaude) {
            json.writeArrayPropertyStart("command");
            json.writeString("python3");
            json.writeString("-c");
            json.writeString(resource("agent.py"));
            json.writeEndArray();
        }
        json.writeNumberProperty("budget_usd", 1);
    }

    /// The image for agents in the home of this machine's server, if it has one and it is Claude's.
    static Optional<Path> image(Path home) {
        Path image = home.resolve("images/worker");
        return Files.isDirectory(image.resolve("opt/vivarium/claude")) ? Optional.of(image) : Optional.empty();
    }

    private static String resource(String name) {
        try (var in = Demo.class.getResourceAsStream(name)) {
            return new String(Objects.requireNonNull(in, name).readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException("reading " + name, e);
        }
    }
}
