package dev.vivarium.cli;

import dev.vivarium.cli.run.Feed;
import dev.vivarium.cli.run.Runs;
import dev.vivarium.cli.run.Story;
import dev.vivarium.json.JsonFields;
import dev.vivarium.sdk.http.Transport;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.core.JsonGenerator;

/// Starts an agent at a task and shows what it does. Ctrl-C only stops looking.
@Command(
        name = "run",
        description = "Start an agent at a task in a sandbox, and watch it.",
        footer = {
            "",
            "  viv run \"Make the tests pass\" --budget 2",
            "  viv run \"Count the words\" --runtime command -- python3 agent.py --fast",
            "Ctrl-C stops the watching, not the agent. Returns 0 if it completed, 1 if not."
        })
final class RunCommand implements Callable<Integer> {
    private static final int LONGEST_TITLE = 100;

    private final Terminal terminal;

    @Mixin
    private ServerOptions server = new ServerOptions();

    @Mixin
    private OutputOptions output = new OutputOptions();

    @Option(names = "--runtime", paramLabel = "NAME", description = "claude, openhands or command (claude).")
    private String runtime = "claude";

    @Option(names = "--thread", paramLabel = "THREAD", description = "The conversation whose sandbox to use.")
    private @Nullable String thread;

    @Option(names = "--model", paramLabel = "NAME", description = "Which model the agent asks.")
    private @Nullable String model;

    @Option(names = "--budget", paramLabel = "DOLLARS", description = "End it when it has cost more.")
    private @Nullable BigDecimal budget;

    @Option(names = "--resume-from", paramLabel = "ID", description = "Go on with the conversation of that sandbox.")
    private @Nullable String resume;

    @Option(
            names = {"-e", "--env"},
            paramLabel = "NAME=VALUE",
            description = "A variable for it; may be repeated.")
    private Map<String, String> env = Map.of();

    @Option(
            names = {"-d", "--detach"},
            description = "Only start it, and print its id.")
    private boolean detach;

    @Parameters(index = "0", paramLabel = "TASK", description = "What to do; its first line is the title.")
    private String task = "";

    @Parameters(index = "1..*", paramLabel = "PROGRAM", description = "For the runtime command: what to run.")
    private List<String> program = List.of();

    RunCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        Account account = server.account(terminal);
        Transport http = server.http(account);
        JsonFields spawned =
                http.post(Runs.PATH, out -> write(out, account.user().orElse("")), fields -> fields);
        String sandbox = spawned.string("sandbox_id");
        if (detach) {
            started(spawned);
            return 0;
        }
        if (!output.isJson()) {
            terminal.note(sandbox + " on thread " + spawned.string("thread_id"));
        }
        return follow(http, sandbox);
    }

    private int follow(Transport http, String sandbox) {
        var comeBack = new Thread(() -> terminal.note("the agent goes on; viv events " + sandbox + " --follow shows it,"
                + " viv say " + sandbox + " \"…\" speaks to it"));
        Runtime.getRuntime().addShutdownHook(comeBack);
        var completed = new AtomicBoolean();
        var commandEvents = new Story(
                terminal.out(),
                output.isColoured(terminal.env(), terminal.ttys().out()));
        new Feed(http, sandbox, "", 0).follow(event -> {
            if (output.isJson()) {
                terminal.out().println(event.text());
                terminal.out().flush();
            } else {
                commandEvents.tell(event);
            }
            boolean ended = Story.isEnd(event);
            completed.set(ended && event.object("event_data").string("status").equals("completed"));
            return !ended;
        });
        Runtime.getRuntime().removeShutdownHook(comeBack);
        return completed.get() ? 0 : ExitCode.FAILURE;
    }

    private void started(JsonFields spawned) {
        if (output.isJson()) {
            terminal.out().println(spawned.text());
        } else {
            terminal.out().println(spawned.string("sandbox_id"));
        }
    }

    private void write(JsonGenerator out, String user) {
        out.writeObjectPropertyStart("task");
        String title = task.strip().lines().findFirst().orElse("");
        out.writeStringProperty("title", title.length() > LONGEST_TITLE ? title.substring(0, LONGEST_TITLE) : title);
        if (!task.strip().equals(title) || title.length() > LONGEST_TITLE) {
            out.writeStringProperty("description", task.strip());
        }
        out.writeEndObject();
        out.writeStringProperty("runtime", runtime);
        optional(out, "user_id", user.isEmpty() ? null : user);
        optional(out, "thread_id", thread);
        optional(out, "model", model);
        optional(out, "resume_from", resume);
        if (budget != null) {
            out.writeNumberProperty("budget_usd", budget);
        }
        if (!program.isEmpty()) {
            out.writeArrayPropertyStart("command");
            program.forEach(out::writeString);
            out.writeEndArray();
        }
        if (!env.isEmpty()) {
            out.writeObjectPropertyStart("env");
            env.forEach(out::writeStringProperty);
            out.writeEndObject();
        }
    }

    private static void optional(JsonGenerator out, String name, @Nullable String value) {
        if (value != null) {
            out.writeStringProperty(name, value);
        }
    }
}
