package dev.vivarium.json;

import dev.vivarium.model.Command;
import dev.vivarium.model.ExecEvent;
import dev.vivarium.model.ExecEvent.Stream;
import dev.vivarium.model.ExecResult;
import dev.vivarium.model.Exit;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import tools.jackson.core.JsonGenerator;

/// JSON form of commands, their results and their events in `POST /execute`. Stateless.
public final class ExecJson {
    /// Default timeout of a command.
    public static final Duration TIMEOUT = Duration.ofSeconds(30);

    private static final long NANOS_PER_MICRO = 1000;
    private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9_@%+:,./-]+");

    private ExecJson() {}

    /// The body of `POST /execute`. `sandbox` is unchecked and may be malformed. Immutable.
    public record Request(String sandbox, String script, Command command, Optional<String> stdin) {
        Request withOpenInput() {
            return new Request(sandbox, script, command.withInput(Command.Input.STREAM), stdin);
        }

        Request withoutTimeout() {
            return new Request(sandbox, script, command.withoutTimeout(), stdin);
        }
    }

    public static Request readRequest(JsonFields fields) {
        String sandbox = fields.string("session_id");
        String script = fields.string("command");
        var request = read(fields, sandbox, script, shell(script));
        fields.refuseOthers();
        return request;
    }

    /// The body of `POST /sandboxes/{sandbox_id}/exec`. Immutable.
    ///
    /// A detached command has no timeout unless the request sets one. With `stream_stdin`, its input stays open for
    /// later writes.
    public record Start(Request request, boolean detach) {}

    /// Reads a command to start in `sandbox`: a shell line, or a program with its arguments.
    public static Start readStart(JsonFields fields, String sandbox) {
        boolean detach = fields.optionalFlag("detach").orElse(false);
        var argv = fields.findStrings("command");
        String script = argv.isPresent() ? quoted(argv.get()) : fields.string("command");
        var command = argv.isPresent() ? program(argv.get()) : shell(script);
        boolean bounded = !detach || fields.optionalNumber("timeout").isPresent();
        boolean open = fields.optionalFlag("stream_stdin").orElse(false);
        var given = read(fields, sandbox, script, command);
        var request = open ? given.withOpenInput() : given;
        fields.refuseOthers();
        return new Start(bounded ? request : request.withoutTimeout(), detach);
    }

    private static Command shell(String script) {
        if (script.isBlank()) {
            throw JsonFields.invalid("command", "must not be empty");
        }
        return Command.shell(script);
    }

    private static Command program(List<String> argv) {
        if (argv.isEmpty() || argv.getFirst().isBlank()) {
            throw JsonFields.invalid("command", "must name a program");
        }
        return Command.of(argv.toArray(String[]::new));
    }

    /// Returns the shell line of these words, for the command policy, which checks lines, and for display.
    static String quoted(List<String> argv) {
        return argv.stream()
                .map(word -> PLAIN.matcher(word).matches() ? word : "'" + word.replace("'", "'\\''") + "'")
                .collect(Collectors.joining(" "));
    }

    private static Request read(JsonFields fields, String sandbox, String script, Command program) {
        var stdin = fields.optionalString("stdin");
        var command = program.withTimeout(seconds(fields, "timeout").orElse(TIMEOUT))
                .withEnv(fields.optionalObject("env").map(JsonFields::strings).orElse(Map.of()))
                .withDirectory(fields.optionalString("cwd").orElse(""))
                .withInput(stdin.isPresent() ? Command.Input.STREAM : Command.Input.NONE);
        var idle = seconds(fields, "idle_timeout");
        return new Request(sandbox, script, idle.map(command::withIdleTimeout).orElse(command), stdin);
    }

    public static void writeRequest(JsonGenerator out, Request request) {
        var command = request.command();
        out.writeStringProperty("session_id", request.sandbox());
        out.writeStringProperty("command", request.script());
        command.timeout().ifPresent(time -> Json.number(out, "timeout", Durations.inSeconds(time)));
        command.idleTimeout().ifPresent(time -> Json.number(out, "idle_timeout", Durations.inSeconds(time)));
        if (!command.env().isEmpty()) {
            out.writeObjectPropertyStart("env");
            command.env().forEach(out::writeStringProperty);
            out.writeEndObject();
        }
        if (!command.directory().isEmpty()) {
            out.writeStringProperty("cwd", command.directory());
        }
        request.stdin().ifPresent(text -> out.writeStringProperty("stdin", text));
    }

    public static void write(JsonGenerator out, ExecResult result) {
        write(out, result.exit(), new Output(Text.of(result.stdout()), Text.of(result.stderr()), result.truncated()));
    }

    /// Writes a result whose output need not be in memory.
    public static void write(JsonGenerator out, Exit exit, Output output) {
        out.writeNumberProperty("exit_code", exit.exitCode());
        out.writeName("stdout");
        output.stdout().write(out);
        out.writeName("stderr");
        output.stderr().write(out);
        writeExit(out, exit, output.truncated());
    }

    /// Output of a command. Immutable.
    public record Output(Text stdout, Text stderr, boolean truncated) {}

    /// Text that is written as one JSON string.
    @FunctionalInterface
    public interface Text {
        void write(JsonGenerator out);

        static Text of(String text) {
            return out -> out.writeString(text);
        }

        /// Returns text that is read and escaped in pieces.
        static Text of(Reader reader) {
            return out -> out.writeString(reader, -1);
        }
    }

    public static ExecResult read(JsonFields fields) {
        return new ExecResult(
                readExit(fields), fields.string("stdout"), fields.string("stderr"), fields.flag("truncated"));
    }

    public static void started(JsonGenerator out, int pid) {
        out.writeStringProperty("type", "started");
        out.writeNumberProperty("pid", pid);
    }

    /// Writes a start event with the id by which other clients find the process.
    public static void started(JsonGenerator out, int pid, String process) {
        started(out, pid);
        out.writeStringProperty("process_id", process);
    }

    /// Writes a piece of output. The caller decodes `text`, because a character may be split between two pieces.
    public static void output(JsonGenerator out, Stream stream, String text) {
        out.writeStringProperty("type", label(stream));
        out.writeStringProperty("data", text);
    }

    public static void exited(JsonGenerator out, Exit exit, boolean truncated) {
        out.writeStringProperty("type", "exit");
        out.writeNumberProperty("exit_code", exit.exitCode());
        writeExit(out, exit, truncated);
    }

    static void writeEnd(JsonGenerator out, Exit exit) {
        out.writeNumberProperty("exit_code", exit.exitCode());
        writeExit(out, exit, false);
    }

    /// Writes a keep-alive event. The server detects a closed connection only when it writes.
    public static void keepAlive(JsonGenerator out) {
        out.writeStringProperty("type", "keep_alive");
    }

    /// Writes the last event of a stream whose command was lost.
    public static void failed(JsonGenerator out, Failure failure) {
        // RFC 9457 defines a `type` of its own, so the problem is a nested object.
        out.writeStringProperty("type", "error");
        out.writeObjectPropertyStart("problem");
        ProblemJson.write(out, failure);
        out.writeEndObject();
    }

    /// Reads one event of a stream. Returns nothing for a keep-alive and for unknown events of a newer server.
    /// Throws the failure of an `error` event.
    public static Optional<ExecEvent> readEvent(JsonFields fields) {
        return switch (fields.string("type")) {
            case "started" -> Optional.of(new ExecEvent.Started((int) fields.integer("pid")));
            case "stdout" -> Optional.of(new ExecEvent.Output(Stream.STDOUT, data(fields)));
            case "stderr" -> Optional.of(new ExecEvent.Output(Stream.STDERR, data(fields)));
            case "exit" -> Optional.of(new ExecEvent.Exited(readExit(fields)));
            case "error" -> throw new SandboxException(ProblemJson.read(fields.object("problem")));
            default -> Optional.empty();
        };
    }

    public static String label(Stream stream) {
        return switch (stream) {
            case STDOUT -> "stdout";
            case STDERR -> "stderr";
        };
    }

    private static byte[] data(JsonFields fields) {
        return fields.string("data").getBytes(StandardCharsets.UTF_8);
    }

    private static void writeExit(JsonGenerator out, Exit exit, boolean truncated) {
        out.writeNumberProperty("execution_time_ms", exit.wall().toMillis());
        out.writeBooleanProperty("timed_out", exit.timedOut());
        out.writeBooleanProperty("truncated", truncated);
        out.writeStringProperty("cause", exit.cause().label());
        if (exit.cause() != Exit.Cause.EXITED) {
            out.writeNumberProperty("signal", exit.code());
        }
        out.writeObjectPropertyStart("usage");
        out.writeNumberProperty("wall_us", micros(exit.wall()));
        out.writeNumberProperty("cpu_user_us", micros(exit.cpuUser()));
        out.writeNumberProperty("cpu_system_us", micros(exit.cpuSystem()));
        out.writeNumberProperty("max_resident_bytes", exit.maxResidentBytes());
        out.writeNumberProperty("stdout_bytes", exit.stdoutBytes());
        out.writeNumberProperty("stderr_bytes", exit.stderrBytes());
        out.writeEndObject();
    }

    private static Exit readExit(JsonFields fields) {
        var cause = SessionJson.constant(Exit.Cause.class, fields, "cause");
        var usage = fields.object("usage");
        long code = cause == Exit.Cause.EXITED ? fields.integer("exit_code") : fields.integer("signal");
        return new Exit(
                cause,
                (int) code,
                micros(usage, "wall_us"),
                micros(usage, "cpu_user_us"),
                micros(usage, "cpu_system_us"),
                usage.integer("max_resident_bytes"),
                usage.integer("stdout_bytes"),
                usage.integer("stderr_bytes"));
    }

    private static Optional<Duration> seconds(JsonFields fields, String name) {
        var number = fields.optionalNumber(name);
        return number.isEmpty() ? Optional.empty() : Optional.of(Durations.ofSeconds(name, number.getAsDouble()));
    }

    private static long micros(Duration time) {
        return time.toNanos() / NANOS_PER_MICRO;
    }

    private static Duration micros(JsonFields fields, String name) {
        return Duration.ofNanos(fields.integer(name) * NANOS_PER_MICRO);
    }
}
