package dev.vivarium.cli;

import dev.vivarium.cli.remote.Box;
import dev.vivarium.cli.remote.Passes.IfAbsent;
import dev.vivarium.json.ExecJson;
import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.ExecEvent;
import dev.vivarium.model.Exit;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.sdk.http.Response;
import dev.vivarium.sdk.http.Transport;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
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
import tools.jackson.core.JsonGenerator;

/// Runs a command in a thread's sandbox, made if need be. Ctrl-C hangs up, and the server then kills the command.
@Command(
        name = "exec",
        description = "Run a command in a thread's sandbox.",
        footer = {
            "",
            "One word is a shell script, several are a program and its arguments as they are:",
            "  viv exec t1 -- 'ls | wc -l'",
            "  viv exec t1 -- grep -r 'two words' .",
            "  viv exec -i t1 -- 'sort | uniq -c' < words.txt",
            "Returns the command's exit code, 124 if it took too long, 125 if viv failed."
        })
final class ExecCommand implements Callable<Integer> {
    private final Terminal terminal;

    @Mixin
    private ServerOptions server = new ServerOptions();

    @Mixin
    private OutputOptions output = new OutputOptions();

    @Option(
            names = {"-i", "--stdin"},
            description = "Pass standard input on.")
    private boolean input;

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
        try {
            Box box = server.box(terminal, thread, IfAbsent.CREATE);
            var accept = Map.of("Accept", "application/x-ndjson");
            try (Response reply = box.send("POST", "/exec", accept, () -> Transport.Body.json(this::write))) {
                return follow(box, reply.requireSuccess());
            }
        } catch (SandboxException e) {
            Complaint.of(e.failure()).print(terminal, output);
            return ExitCode.EXEC_FAILED;
        }
    }

    /// As with ssh: people who give one word mean a line of shell.
    private void write(JsonGenerator out) {
        if (words.size() == 1) {
            out.writeStringProperty("command", words.getFirst());
        } else {
            out.writeArrayPropertyStart("command");
            words.forEach(out::writeString);
            out.writeEndArray();
        }
        out.writeNumberProperty("timeout", timeout.toMillis() / 1000.0);
        if (idleTimeout != null) {
            out.writeNumberProperty("idle_timeout", idleTimeout.toMillis() / 1000.0);
        }
        if (!directory.isEmpty()) {
            out.writeStringProperty("cwd", directory);
        }
        if (!env.isEmpty()) {
            out.writeObjectPropertyStart("env");
            env.forEach(out::writeStringProperty);
            out.writeEndObject();
        }
        if (input) {
            out.writeBooleanProperty("stream_stdin", true);
        }
    }

    private int follow(Box box, Response reply) {
        try (var lines = new BufferedReader(new InputStreamReader(reply.body(), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                JsonFields fields = Json.answer(line);
                fields.optionalString("process_id").filter(_ -> input).ifPresent(id -> feed(box, id));
                var event = ExecJson.readEvent(fields);
                if (event.isPresent()) {
                    print(event.get(), line);
                }
                if (event.isPresent() && event.get() instanceof ExecEvent.Exited(Exit exit)) {
                    return exit.exitCode();
                }
            }
            throw new IOException("the stream ended before the command");
        } catch (IOException e) {
            throw new SandboxException(
                    new Failure.ServerUnreachable(
                            box.pass().http().toString(), "the connection broke (" + e.getMessage() + ")"),
                    e);
        }
    }

    /// Sends what comes on standard input as it comes, on a worker that ends with the process.
    private void feed(Box box, String process) {
        Thread.ofPlatform().daemon().name("viv-stdin").start(() -> {
            try {
                String path = "/processes/" + Transport.segment(process) + "/stdin?eof=true";
                box.send(
                                "POST",
                                path,
                                Map.of(),
                                () -> new Transport.Body("application/octet-stream", terminal.in(), -1))
                        .close();
            } catch (SandboxException _) {
                // It has ended without reading everything, or the reader of its output meets the same loss.
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
