package dev.vivarium.cli;

import dev.vivarium.cli.TokenCache.IfAbsent;
import dev.vivarium.model.ExecEvent;
import dev.vivarium.model.Exit;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.sdk.CommandStream;
import dev.vivarium.sdk.Commands;
import dev.vivarium.sdk.NewCommand;
import dev.vivarium.sdk.Shell;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `viv exec`: runs a command in the sandbox of a thread. Ctrl-C disconnects, and the server then kills the command.
@Command(
        name = "exec",
        description = "Run a command in a thread's sandbox.",
        footer = {
            "",
            "One argument is a shell script; several are a program and its arguments:",
            "  viv exec t1 -- 'ls | wc -l'",
            "  viv exec t1 -- grep -r 'two words' .",
            "  viv exec -i t1 -- 'sort | uniq -c' < words.txt",
            "  viv exec -it t1 -- bash",
            "Returns the exit code of the command, 124 after a timeout, 125 if viv failed."
        })
final class ExecCommand implements Callable<Integer> {
    private static final Duration DEFAULT_TIMEOUT = Duration.ofHours(1);

    @Mixin
    private final Invocation viv;

    @Option(
            names = {"-i", "--stdin", "--interactive"},
            description = "Forward standard input.")
    private boolean input;

    @Option(
            names = {"-t", "--tty"},
            description = "Open a terminal, as viv shell does.")
    private boolean tty;

    @Option(names = "--timeout", paramLabel = "TIME", description = "Timeout, such as 90s or 10m (1h).")
    private Duration timeout = DEFAULT_TIMEOUT;

    @Option(names = "--idle-timeout", paramLabel = "TIME", description = "Timeout without output.")
    private @Nullable Duration idleTimeout;

    @Option(
            names = {"-w", "--workdir"},
            paramLabel = "DIR",
            description = "Working directory, relative to the workspace.")
    private String directory = "";

    @Option(
            names = {"-e", "--env"},
            paramLabel = "NAME=VALUE",
            description = "Environment variable; may be repeated.")
    private Map<String, String> env = Map.of();

    @Parameters(index = "0", paramLabel = "THREAD", description = "Thread of the sandbox.")
    private String thread = "";

    @Parameters(index = "1..*", arity = "1..*", paramLabel = "COMMAND", description = "Program and arguments.")
    private List<String> words = List.of();

    ExecCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        if (tty) {
            return ShellCommand.run(viv, thread, onTerminal());
        }
        try {
            Commands commands = viv.connect(thread, IfAbsent.CREATE).commands();
            var idle = Optional.ofNullable(idleTimeout);
            try (CommandStream events = commands.start(new NewCommand(words, timeout, idle, directory, env, input))) {
                return follow(commands, events);
            }
        } catch (SandboxException e) {
            ErrorMessage.of(e.failure()).print(viv.terminal(), viv.output());
            return ExitCode.EXEC_FAILED;
        }
    }

    private int follow(Commands commands, CommandStream events) {
        while (true) {
            ExecEvent event = events.next();
            if (event instanceof ExecEvent.Started && input) {
                events.process().ifPresent(process -> sendInput(commands, process));
            }
            print(event, events.json());
            if (event instanceof ExecEvent.Exited(Exit exit)) {
                printCause(exit);
                return exit.exitCode();
            }
        }
    }

    /// Prints the cause of an exit that the exit code does not tell.
    private void printCause(Exit exit) {
        if (viv.isJson()) {
            return;
        }
        switch (exit.cause()) {
            case TIMEOUT ->
                viv.note("the command exceeded its timeout of " + Times.text(timeout)
                        + " and was killed; --timeout changes it");
            case IDLE_TIMEOUT -> viv.note("the command wrote no output for its idle timeout and was killed");
            case OOM -> viv.note("the command was killed, because the sandbox was out of memory");
            case EXITED, SIGNALLED, CANCELLED, DETACHED -> {
                // The exit code says it.
            }
        }
    }

    /// Returns the command with its directory and environment, which a shell cannot receive otherwise.
    private String onTerminal() {
        if (idleTimeout != null || !timeout.equals(DEFAULT_TIMEOUT)) {
            throw new SandboxException(new Failure.InvalidRequest("-t", "excludes --timeout and --idle-timeout"));
        }
        var line = new StringBuilder();
        if (!directory.isEmpty()) {
            line.append("cd ").append(Shell.quote(directory)).append(" && ");
        }
        env.forEach((name, value) ->
                line.append("export ").append(Shell.quote(name + "=" + value)).append(" && "));
        return line + (words.size() == 1 ? words.getFirst() : Shell.quote(words));
    }

    /// Sends the standard input on a thread that ends with this program.
    private void sendInput(Commands commands, String process) {
        Thread.ofPlatform().daemon().name("viv-stdin").start(() -> {
            try {
                commands.writeInput(process, viv.terminal().in());
            } catch (SandboxException _) {
                // The process ended before it read everything, or the reader of its output meets the same failure.
            }
        });
    }

    private void print(ExecEvent event, String line) {
        if (viv.isJson()) {
            viv.printJson(line);
        } else if (event instanceof ExecEvent.Output(ExecEvent.Stream stream, byte[] bytes)) {
            var target = stream == ExecEvent.Stream.STDOUT
                    ? viv.out()
                    : viv.terminal().err();
            target.writeBytes(bytes);
            target.flush();
        }
    }
}
