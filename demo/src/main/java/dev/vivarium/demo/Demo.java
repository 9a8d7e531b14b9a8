package dev.vivarium.demo;

import dev.vivarium.cli.run.EventPrinter;
import dev.vivarium.model.Message;
import dev.vivarium.model.OnIdle;
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
import java.util.Map;
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
    private final Agent agent;
    private int calls;

    /// The agent of a demo.
    enum Agent {
        CLAUDE,
        /// A small program that calls the model.
        PYTHON,
        /// The same program with the script in place of a model.
        REPLAY
    }

    Demo(RemoteClient client, PrintStream out, boolean coloured, Agent agent) {
        this.out = out;
        this.printer = new EventPrinter(out, coloured);
        this.client = client;
        this.agent = agent;
    }

    /// Returns the script of the model.
    static Script script() {
        return Script.parse(resource("script.json"));
    }

    /// Starts the run. Returns its sandbox.
    String start() {
        out.println("task     " + TASK);
        return client.runs().start(request()).sandbox().value();
    }

    /// Plays the run to its end. Reports whether the agent completed its task.
    boolean play(String sandbox) {
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
        String program = resource("agent.py");
        NewRun run = switch (agent) {
            case CLAUDE -> NewRun.of(TASK, "claude").withBudget(BigDecimal.ONE);
            case PYTHON -> command(program).withBudget(BigDecimal.ONE);
            case REPLAY -> command(replaying(program)).withEnv(Map.of("DEMO_SCRIPT", resource("script.json")));
        };
        // With `--keep`, the user looks at the files after the run.
        return run.withOnIdle(OnIdle.HIBERNATE);
    }

    private static NewRun command(String program) {
        return NewRun.of(TASK, "command").withCommand(List.of("python3", "-c", program));
    }

    /// Replaces the model of the agent. The last line of the program starts it.
    private static String replaying(String program) {
        int start = program.lastIndexOf("main()");
        return program.substring(0, start) + resource("replay.py") + "\n\n" + program.substring(start);
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
