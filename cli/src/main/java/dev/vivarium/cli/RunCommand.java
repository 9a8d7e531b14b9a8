package dev.vivarium.cli;

import dev.vivarium.cli.run.EventPrinter;
import dev.vivarium.model.OnIdle;
import dev.vivarium.model.SandboxException;
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
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// Starts an agent at a task and prints its events. Ctrl-C stops the printing, not the agent.
@Command(
        name = "run",
        description = "Start an agent on a task and print its events.",
        footer = {
            "",
            "  viv run \"Make the tests pass\" --budget 2",
            "  viv run \"Fix issue 7\" --repository URL --credential NAME --on-success pull_request",
            "  viv run \"Count the words\" --runtime command -- python3 agent.py --fast",
            "Ctrl-C stops the output, not the agent. Returns 0 if the run completed, otherwise 1."
        })
final class RunCommand implements Callable<Integer> {
    @Mixin
    private final Invocation viv;

    @Mixin
    private final WorkOptions work = new WorkOptions();

    @Option(names = "--runtime", paramLabel = "NAME", description = "claude, openhands or command (claude).")
    private String runtime = "claude";

    @Option(names = "--thread", paramLabel = "THREAD", description = "Thread whose sandbox the agent uses.")
    private @Nullable String thread;

    @Option(names = "--model", paramLabel = "NAME", description = "Model of the agent.")
    private @Nullable String model;

    @Option(names = "--budget", paramLabel = "DOLLARS", description = "Maximum cost of the run.")
    private @Nullable BigDecimal budget;

    @Option(names = "--resume-from", paramLabel = "ID", description = "Continue the conversation of this sandbox.")
    private @Nullable String resume;

    @Option(
            names = {"-e", "--env"},
            paramLabel = "NAME=VALUE",
            description = "Environment variable; may be repeated.")
    private Map<String, String> env = Map.of();

    @Option(
            names = {"-d", "--detach"},
            description = "Start the run and print its id.")
    private boolean detach;

    @Parameters(index = "0", paramLabel = "TASK", description = "Task; its first line is the title.")
    private String task = "";

    @Parameters(index = "1..*", paramLabel = "PROGRAM", description = "Program of the runtime command.")
    private List<String> program = List.of();

    RunCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        Account account = viv.account();
        RemoteClient client = viv.client(account);
        Runs.StartedRun started = client.runs().start(request(account.user()));
        if (detach) {
            if (viv.isJson()) {
                viv.printJson(started.json());
            } else {
                viv.print(started.sandbox().value());
            }
            return 0;
        }
        String sandbox = started.sandbox().value();
        if (!viv.isJson()) {
            viv.note(sandbox + " on thread " + started.thread().value());
            noteLink(client, sandbox);
        }
        return follow(client, sandbox);
    }

    /// Prints a link to the run. The run does not need it, so a server without a console is no failure.
    private void noteLink(RemoteClient client, String sandbox) {
        try {
            viv.note("in the console: " + client.signInLink("/console/sandboxes/" + sandbox));
        } catch (SandboxException _) {
            // The server has no console.
        }
    }

    private int follow(RemoteClient client, String sandbox) {
        var comeBack = new Thread(() -> viv.note("the agent continues; viv events " + sandbox + " --follow shows it,"
                + " viv say " + sandbox + " \"…\" sends a message"));
        Runtime.getRuntime().addShutdownHook(comeBack);
        boolean completed = printToEnd(client, sandbox);
        Runtime.getRuntime().removeShutdownHook(comeBack);
        return completed ? 0 : ExitCode.FAILURE;
    }

    /// Reports whether the run completed.
    private boolean printToEnd(RemoteClient client, String sandbox) {
        var printer = new EventPrinter(viv.out(), viv.isColoured());
        try (EventStream events = client.events().follow(sandbox, Events.Filter.ALL)) {
            while (true) {
                SandboxEvent event = events.next();
                if (viv.isJson()) {
                    viv.printJson(event.json());
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
        TaskText text = TaskText.of(task);
        NewRun request = NewRun.of(text.title(), runtime).withOnIdle(OnIdle.HIBERNATE);
        request = with(request, text.description(), NewRun::withDescription);
        request = with(request, user.filter(who -> !who.isEmpty()), NewRun::ofUser);
        request = with(request, Optional.ofNullable(thread), NewRun::inThread);
        request = with(request, Optional.ofNullable(model), NewRun::withModel);
        request = with(request, Optional.ofNullable(resume), NewRun::resumingFrom);
        request = with(request, Optional.ofNullable(budget), NewRun::withBudget);
        request = with(request, work.ticket(), NewRun::withTicket);
        request = with(request, work.guardian(), NewRun::withGuardian);
        request = with(request, work.repository(), NewRun::withRepository);
        request = env.isEmpty() ? request : request.withEnv(env);
        return program.isEmpty() ? request : request.withCommand(program);
    }

    private static <T> NewRun with(NewRun request, Optional<T> value, BiFunction<NewRun, T, NewRun> set) {
        return value.map(given -> set.apply(request, given)).orElse(request);
    }
}
