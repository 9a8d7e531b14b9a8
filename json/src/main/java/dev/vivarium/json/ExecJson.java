package dev.vivarium.json;

import static dev.vivarium.json.JsonType.BOOLEAN;
import static dev.vivarium.json.JsonType.INT;
import static dev.vivarium.json.JsonType.LONG;
import static dev.vivarium.json.JsonType.SECONDS;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.JsonType.constants;
import static dev.vivarium.json.JsonType.list;
import static dev.vivarium.json.JsonType.map;
import static dev.vivarium.json.ObjectType.constant;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.json.ObjectType.optional;
import static dev.vivarium.model.Failure.InvalidRequest.require;

import dev.vivarium.json.ObjectType.Field;
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

    public static final JsonType<Map<String, String>> ENVIRONMENT =
            map(STRING).with("description", """
                    Environment variables. The server rejects names that change the program of a command (LD_*, \
                    BASH_ENV, ENV, IFS and similar).""").with("maxProperties", 256);

    private static final long NANOS_PER_MICRO = 1000;
    private static final JsonType<Duration> MICROS =
            LONG.as(micros -> Duration.ofNanos(micros * NANOS_PER_MICRO), time -> time.toNanos() / NANOS_PER_MICRO);
    private static final JsonType<Text> TEXT = JsonType.written(STRING.schema(), (out, text) -> text.write(out));

    private static final String TIMEOUT_TEXT =
            "Seconds. When they have passed, the server kills the command and all its descendants.";
    private static final String IDLE_TEXT = "Seconds without output after which the server kills the command.";
    private static final String DIRECTORY_TEXT = "Relative to the workspace, or absolute inside the sandbox.";

    public static final ObjectType<Request> EXECUTE = object(
                    "Execute",
                    field("session_id", STRING, Request::sandbox),
                    field(
                            "command",
                            STRING.with("minLength", 1),
                            "A line for `bash -c`, at most 131072 bytes.",
                            Request::script),
                    optional(
                            "timeout",
                            SECONDS.with("default", 30),
                            TIMEOUT_TEXT,
                            request -> request.command().timeout()),
                    optional(
                            "idle_timeout",
                            SECONDS,
                            IDLE_TEXT,
                            request -> request.command().idleTimeout()),
                    optional(
                            "env",
                            ENVIRONMENT,
                            request -> unlessEmpty(request.command().env())),
                    optional(
                            "cwd",
                            STRING,
                            DIRECTORY_TEXT,
                            request -> Optional.of(request.command().directory())
                                    .filter(directory -> !directory.isEmpty())),
                    optional("stdin", STRING, "The standard input.", Request::stdin))
            .readBy(ExecJson::readRequest)
            .closed();

    /// The body of `POST /sandboxes/{sandbox_id}/exec`. [#readStart] reads it.
    public static final ObjectType<Start> START = ObjectType.<Start>object(
                    "Exec",
                    field(
                            "command",
                            JsonType.oneOf(STRING, list(STRING)),
                            "A line for `bash -c`, or a program with its arguments."),
                    optional("timeout", SECONDS.with("default", 30), TIMEOUT_TEXT),
                    optional("idle_timeout", SECONDS, IDLE_TEXT),
                    optional("env", ENVIRONMENT),
                    optional("cwd", STRING, DIRECTORY_TEXT),
                    optional("stdin", STRING, "The standard input."),
                    optional("detach", BOOLEAN.with("default", false), """
                            Start the command in the background. Its standard input stays open. Without `timeout` it \
                            has no timeout."""),
                    optional(
                            "stream_stdin",
                            BOOLEAN.with("default", false),
                            "Keep the standard input open for writes to `stdin` of the process."))
            .closed();

    private static final ObjectType<Exit> USAGE = object(
            "Usage",
            field("wall_us", MICROS, Exit::wall),
            field("cpu_user_us", MICROS, Exit::cpuUser),
            field("cpu_system_us", MICROS, Exit::cpuSystem),
            field("max_resident_bytes", LONG, Exit::maxResidentBytes),
            field("stdout_bytes", LONG, Exit::stdoutBytes),
            field("stderr_bytes", LONG, Exit::stderrBytes));

    private static final Field<Ended, ?> EXIT_CODE = field(
            "exit_code",
            INT,
            "The exit code of a shell: 124 after a timeout, 128 plus the signal after a kill.",
            ended -> ended.exit().exitCode());

    /// End of a command without its output.
    static final ObjectType<Ended> EXIT = object(
            "",
            EXIT_CODE,
            field(
                    "execution_time_ms",
                    LONG.with("minimum", 0),
                    ended -> ended.exit().wall().toMillis()),
            field("timed_out", BOOLEAN, ended -> ended.exit().timedOut()),
            field(
                    "truncated",
                    BOOLEAN,
                    "Whether output beyond the limit of a stream was discarded.",
                    ended -> ended.output().truncated()),
            field(
                    "cause",
                    constants(Exit.Cause.class, Exit.Cause::text),
                    "How the command ended.",
                    ended -> ended.exit().cause()),
            optional(
                    "signal",
                    INT,
                    "The signal, unless the cause is `exited`.",
                    ended -> Optional.of(ended.exit())
                            .filter(exit -> exit.cause() != Exit.Cause.EXITED)
                            .map(Exit::signal)),
            field("usage", USAGE, Ended::exit));

    private static final ObjectType<Ended> EXIT_EVENT =
            ObjectType.<Ended>object("", constant("type", "exit")).and("", EXIT);

    public static final ObjectType<Ended> RESULT = object(
                    "ExecResult",
                    EXIT_CODE,
                    field("stdout", TEXT, ended -> ended.output().stdout()),
                    field("stderr", TEXT, ended -> ended.output().stderr()))
            .and("ExecResult", EXIT);

    /// One event of a stream. The writers below write events, because streams are a hot path.
    public static final JsonType<Object> EVENT = JsonType.oneOf(
                    object(
                            "",
                            constant("type", "started"),
                            field("pid", INT),
                            optional("process_id", STRING, "The id of the process in the API.")),
                    object(
                            "",
                            field("type", STRING.with("enum", List.of("stdout", "stderr"))),
                            field("data", STRING, "Decoded as UTF-8. A character is never split.")),
                    object("", constant("type", "missed"), field("bytes", LONG.with("minimum", 1)))
                            .with(
                                    "description",
                                    "For a follower of a detached process: the number of bytes of output that are lost."),
                    object("", constant("type", "keep_alive"))
                            .with("description", "Only in NDJSON. In an event stream it is a comment."),
                    EXIT_EVENT,
                    object("", constant("type", "error"), field("problem", ProblemJson.PROBLEM)))
            .with("description", "One event. The last one is `exit`, or `error` if the command was lost.")
            .named("ExecEvent");

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

    static Optional<Map<String, String>> unlessEmpty(Map<String, String> env) {
        return env.isEmpty() ? Optional.empty() : Optional.of(env);
    }

    private static Request readRequest(JsonFields fields) {
        String sandbox = fields.string("session_id");
        String script = fields.string("command");
        return read(fields, sandbox, script, shell(script));
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
        require(!script.isBlank(), "command", "must not be empty");
        return Command.shell(script);
    }

    private static Command program(List<String> argv) {
        require(!argv.isEmpty() && !argv.getFirst().isBlank(), "command", "must name a program");
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
        var command = program.withTimeout(fields.optional("timeout", SECONDS).orElse(TIMEOUT))
                .withEnv(fields.optional("env", ENVIRONMENT).orElse(Map.of()))
                .withDirectory(fields.optionalString("cwd").orElse(""))
                .withInput(stdin.isPresent() ? Command.Input.STREAM : Command.Input.NONE);
        var idle = fields.optional("idle_timeout", SECONDS);
        return new Request(sandbox, script, idle.map(command::withIdleTimeout).orElse(command), stdin);
    }

    /// End of a command, with its output.
    public record Ended(Exit exit, Output output) {
        /// Without the output.
        static Ended of(Exit exit, boolean truncated) {
            return new Ended(exit, new Output(Text.of(""), Text.of(""), truncated));
        }
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
        EXIT_EVENT.writeFields(out, Ended.of(exit, truncated));
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

    private static Exit readExit(JsonFields fields) {
        var cause = fields.required("cause", JsonType.constants(Exit.Cause.class));
        var usage = fields.object("usage");
        long code = fields.integer("exit_code");
        return new Exit(
                cause,
                Exit.code(
                        cause,
                        (int) code,
                        fields.optionalInteger("signal").orElse(0L).intValue()),
                usage.required("wall_us", MICROS),
                usage.required("cpu_user_us", MICROS),
                usage.required("cpu_system_us", MICROS),
                usage.integer("max_resident_bytes"),
                usage.integer("stdout_bytes"),
                usage.integer("stderr_bytes"));
    }
}
