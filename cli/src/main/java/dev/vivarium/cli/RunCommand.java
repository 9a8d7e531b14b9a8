package dev.vivarium.cli;

import dev.vivarium.cli.run.EventPrinter;
import dev.vivarium.sdk.EventStream;
import dev.vivarium.sdk.Events;
import dev.vivarium.sdk.NewRun;
import dev.vivarium.sdk.RemoteClient;
import dev.vivarium.sdk.Runs;
import dev.vivarium.sdk.SandboxEvent;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// Starts an agent at a task and prints its events. Ctrl-C stops the printing, not the agent.
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
        RemoteClient client = server.client(account);
        Runs.StartedRun started = client.runs().start(request(account.user()));
        if (detach) {
            terminal.out()
                    .println(
                            output.isJson() ? started.json() : started.sandbox().value());
            return 0;
        }
        String sandbox = started.sandbox().value();
        if (!output.isJson()) {
            terminal.note(sandbox + " on thread " + started.thread().value());
        }
        return follow(client, sandbox);
    }

    private int follow(RemoteClient client, String sandbox) {
        var comeBack = new Thread(() -> terminal.note("the agent goes on; viv events " + sandbox + " --follow shows it,"
                + " viv say " + sandbox + " \"…\" speaks to it"));
        Runtime.getRuntime().addShutdownHook(comeBack);
        boolean completed = printToEnd(client, sandbox);
        Runtime.getRuntime().removeShutdownHook(comeBack);
        return completed ? 0 : ExitCode.FAILURE;
    }

    /// Reports whether the run completed.
    private boolean printToEnd(RemoteClient client, String sandbox) {
        var printer = new EventPrinter(
                terminal.out(),
                output.isColoured(terminal.env(), terminal.ttys().out()));
        try (EventStream events = client.events().follow(sandbox, Events.Filter.ALL)) {
            while (true) {
                SandboxEvent event = events.next();
                if (output.isJson()) {
                    terminal.out().println(event.json());
                    terminal.out().flush();
                } else {
                    printer.print(event);
                }
                if (event.isRunEnd()) {
                    return EventPrinter.isCompletion(event);
                }
            }
        }
    }

    private NewRun request(Optional<String> user) {
        String title = task.strip().lines().findFirst().orElse("");
        boolean isWhole = task.strip().equals(title) && title.length() <= LONGEST_TITLE;
        return new NewRun(
                title.length() > LONGEST_TITLE ? title.substring(0, LONGEST_TITLE) : title,
                isWhole ? Optional.empty() : Optional.of(task.strip()),
                runtime,
                user.filter(who -> !who.isEmpty()),
                Optional.ofNullable(thread),
                Optional.ofNullable(model),
                Optional.ofNullable(resume),
                Optional.ofNullable(budget),
                program,
                env);
    }
}
