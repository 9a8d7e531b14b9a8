package dev.vivarium.cli;

import dev.vivarium.cli.TokenCache.IfAbsent;
import dev.vivarium.model.ExecEvent;
import dev.vivarium.model.Exit;
import dev.vivarium.model.SandboxException;
import dev.vivarium.sdk.CommandStream;
import dev.vivarium.sdk.Commands;
import dev.vivarium.sdk.NewCommand;
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
            "Returns the exit code of the command, 124 after a timeout, 125 if viv failed."
        })
final class ExecCommand implements Callable<Integer> {
    private final Terminal terminal;

    @Mixin
    private ServerOptions server = new ServerOptions();

    @Mixin
    private OutputOptions output = new OutputOptions();

    @Option(
            names = {"-i", "--stdin"},
            description = "Forward standard input.")
    private boolean input;

    @Option(names = "--timeout", paramLabel = "TIME", description = "Timeout, such as 90s or 10m (1h).")
    private Duration timeout = Duration.ofHours(1);

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
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        try {
            Commands commands =
                    server.connect(terminal, thread, IfAbsent.CREATE).commands();
            var idle = Optional.ofNullable(idleTimeout);
            try (CommandStream events = commands.start(new NewCommand(words, timeout, idle, directory, env, input))) {
                return follow(commands, events);
            }
        } catch (SandboxException e) {
            Complaint.of(e.failure()).print(terminal, output);
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
                return exit.exitCode();
            }
        }
    }

    /// Sends the standard input on a thread that ends with this program.
    private void sendInput(Commands commands, String process) {
        Thread.ofPlatform().daemon().name("viv-stdin").start(() -> {
            try {
                commands.writeInput(process, terminal.in());
            } catch (SandboxException _) {
                // The process ended before it read everything, or the reader of its output meets the same failure.
            }
        });
    }

    private void print(ExecEvent event, String line) {
        if (output.isJson()) {
            terminal.out().println(line);
            terminal.out().flush();
        } else if (event instanceof ExecEvent.Output(ExecEvent.Stream stream, byte[] bytes)) {
            var target = stream == ExecEvent.Stream.STDOUT ? terminal.out() : terminal.err();
            target.writeBytes(bytes);
            target.flush();
        }
    }
}
