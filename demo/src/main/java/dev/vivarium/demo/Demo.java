package dev.vivarium.demo;

import dev.vivarium.cli.run.EventPrinter;
import dev.vivarium.model.Message;
import dev.vivarium.scripted.Script;
import dev.vivarium.sdk.EventStream;
import dev.vivarium.sdk.Events;
import dev.vivarium.sdk.NewRun;
import dev.vivarium.sdk.RemoteClient;
import dev.vivarium.sdk.SandboxEvent;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/// One complete run, in which the user changes the task. Confined to one worker.
final class Demo {
    private static final String TASK =
            "Write convert.py, which prints the temperatures of three cities in Fahrenheit, and run it";
    private static final String CHANGE_OF_MIND = "Use Celsius, please; nobody here reads Fahrenheit.";

    /// Number of the tool call during which the user sends the message.
    private static final int SPEAKS_AT = 2;

    private final PrintStream out;
    private final EventPrinter printer;
    private final RemoteClient client;
    private final boolean isClaude;
    private int calls;

    Demo(DemoServer server, PrintStream out, boolean coloured, boolean isClaude) {
        this.out = out;
        this.printer = new EventPrinter(out, coloured);
        this.client = RemoteClient.of(server.uri(), server.key());
        this.isClaude = isClaude;
    }

    /// Returns the script of the model.
    static Script script() {
        return Script.parse(resource("script.json"));
    }

    /// Runs the demo. Reports whether the agent completed its task.
    boolean play() {
        out.println("task     " + TASK);
        String sandbox = client.runs().start(request()).sandbox().value();
        try (EventStream events = client.events().follow(sandbox, Events.Filter.ALL)) {
            while (true) {
                SandboxEvent event = events.next();
                printer.print(event);
                if (event.type().equals("agent.tool_use") && ++calls == SPEAKS_AT) {
                    client.runs().send(sandbox, CHANGE_OF_MIND, Message.Kind.USER_MESSAGE);
                }
                if (event.isRunEnd()) {
                    return EventPrinter.isCompletion(event);
                }
            }
        }
    }

    private NewRun request() {
        var request = NewRun.of(TASK, isClaude ? "claude" : "command").withBudget(BigDecimal.ONE);
        return isClaude ? request : request.withCommand(List.of("python3", "-c", resource("agent.py")));
    }

    /// Returns the agents' image in the home of this machine's server, if it contains Claude's SDK.
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
