package dev.vivarium.cli;

import dev.vivarium.json.ExecJson;
import dev.vivarium.model.ExecEvent;
import dev.vivarium.model.Exit;
import dev.vivarium.model.SandboxException;
import dev.vivarium.sdk.ExecOptions;
import dev.vivarium.sdk.Sandbox;
import dev.vivarium.sdk.Shell;
import dev.vivarium.sdk.engine.Run;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// Runs a command in a thread's sandbox, made if need be. Ctrl-C hangs up, and the server then kills the command.
@Command(
        name = "exec",
        description = "Run a command in a thread's sandbox.",
        footer = {
            "",
            "One word is a shell script, several are a program and its arguments as they are:",
            "  viv exec t1 -- 'ls | wc -l'",
            "  viv exec t1 -- grep -r 'two words' .",
            "Returns the command's exit code, 124 if it took too long, 125 if viv failed."
        })
final class ExecCommand implements Callable<Integer> {
    private final Terminal terminal;

    @Mixin
    private ServerOptions server = new ServerOptions();

    @Mixin
    private OutputOptions output = new OutputOptions();

    @Option(names = "--timeout", paramLabel = "TIME", description = "Kill it after this long, e.g. 90s, 10m (1h).")
    private Duration timeout = Duration.ofHours(1);

    @Option(names = "--idle-timeout", paramLabel = "TIME", description = "Kill it after this long without output.")
    private @Nullable Duration idleTimeout;

    @Option(
            names = {"-w", "--workdir"},
            paramLabel = "DIR",
            description = "Where to run it, below the workspace.")
    private String directory = "";

    @Option(
            names = {"-e", "--env"},
            paramLabel = "NAME=VALUE",
            description = "A variable for it; may be repeated.")
    private Map<String, String> env = Map.of();

    @Parameters(index = "0", paramLabel = "THREAD", description = "The conversation whose sandbox it is.")
    private String thread = "";

    @Parameters(index = "1..*", arity = "1..*", paramLabel = "COMMAND", description = "The program and its arguments.")
    private List<String> words = List.of();

    ExecCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        try (var client = server.client(terminal)) {
            Sandbox box = client.sandbox(server.account(terminal).user(), thread);
            try (Run run = box.start(script(), options())) {
                return follow(run);
            }
        } catch (SandboxException e) {
            Complaint.of(e.failure()).print(terminal, output);
            return ExitCode.EXEC_FAILED;
        }
    }

    /// As with ssh: people who give one word mean a line of shell.
    private String script() {
        return words.size() == 1 ? words.getFirst() : Shell.quote(words);
    }

    private ExecOptions options() {
        var options = ExecOptions.STANDARD
                .withTimeout(timeout)
                .withDirectory(directory)
                .withEnv(env);
        return idleTimeout == null ? options : options.withIdleTimeout(idleTimeout);
    }

    private int follow(Run run) {
        int code = 0;
        for (ExecEvent event : run) {
            if (output.isJson()) {
                print(event);
            } else if (event instanceof ExecEvent.Output(ExecEvent.Stream stream, byte[] bytes)) {
                var target = stream == ExecEvent.Stream.STDOUT ? terminal.out() : terminal.err();
                target.writeBytes(bytes);
                target.flush();
            }
            if (event instanceof ExecEvent.Exited(Exit exit)) {
                code = exit.exitCode();
            }
        }
        return code;
    }

    private void print(ExecEvent event) {
        terminal.json(out -> {
            switch (event) {
                case ExecEvent.Started(int pid) -> ExecJson.started(out, pid);
                case ExecEvent.Output(ExecEvent.Stream stream, byte[] bytes) ->
                    ExecJson.output(out, stream, new String(bytes, StandardCharsets.UTF_8));
                case ExecEvent.Exited(Exit exit) -> ExecJson.exited(out, exit, false);
            }
        });
    }
}
