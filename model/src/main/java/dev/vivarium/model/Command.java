package dev.vivarium.model;

import static dev.vivarium.model.Failure.InvalidRequest.require;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Program to run in a sandbox, with its limits. Immutable.
///
/// `directory` is relative to the workspace, or absolute inside the sandbox. `outputLimit` applies to each stream:
/// output beyond it is discarded and reported in the [Exit], and the command continues.
public record Command(
        List<String> argv,
        Map<String, String> env,
        String directory,
        Input input,
        Optional<Duration> timeout,
        Optional<Duration> idleTimeout,
        long outputLimit) {
    /// Default of `outputLimit`: 10 MiB.
    public static final long OUTPUT_LIMIT = 10L * 1024 * 1024;

    /// `outputLimit` of a command whose output is streamed completely.
    public static final long UNLIMITED = 0;

    /// Source of the standard input.
    public enum Input {
        /// `/dev/null`.
        NONE,
        /// Bytes that the caller writes.
        STREAM
    }

    public Command {
        argv = List.copyOf(argv);
        env = Map.copyOf(env);
        require(!argv.isEmpty(), "argv", "must name a program");
        for (String part : argv) {
            requireNoNul("command", part);
        }
        env.forEach((name, value) -> requireNoNul("env." + name, value));
        requireNoNul("directory", directory);
        timeout.ifPresent(time -> requirePositive("timeout", time));
        idleTimeout.ifPresent(time -> requirePositive("idle_timeout", time));
    }

    public static Command of(String... argv) {
        return new Command(List.of(argv), Map.of(), "", Input.NONE, Optional.empty(), Optional.empty(), OUTPUT_LIMIT);
    }

    /// Directories that no sandbox can write to.
    private static final String TRUSTED_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

    private static final List<String> SHELL = List.of("bash", "-c");

    /// Returns `bash -c script`.
    public static Command shell(String script) {
        return of("bash", "-c", script);
    }

    /// Returns the command restricted to programs in the system's directories, without the named variables. Its
    /// shell reads no start-up file and imports no function. For a line of which only the command names were
    /// checked.
    public Command trusted(Collection<String> without) {
        var words = new ArrayList<String>();
        if (!without.isEmpty()) {
            words.add("env");
            without.forEach(name -> words.addAll(List.of("-u", name)));
        }
        if (argv.size() == 3 && argv.subList(0, 2).equals(SHELL)) {
            words.addAll(List.of("bash", "--noprofile", "--norc", "-p", "-c", argv.getLast()));
        } else {
            words.addAll(argv);
        }
        var variables = new HashMap<>(env);
        variables.put("PATH", TRUSTED_PATH);
        return new Command(words, variables, directory, input, timeout, idleTimeout, outputLimit);
    }

    public Command withEnv(Map<String, String> wanted) {
        return new Command(argv, wanted, directory, input, timeout, idleTimeout, outputLimit);
    }

    public Command withDirectory(String wanted) {
        return new Command(argv, env, wanted, input, timeout, idleTimeout, outputLimit);
    }

    public Command withInput(Input wanted) {
        return new Command(argv, env, directory, wanted, timeout, idleTimeout, outputLimit);
    }

    public Command withTimeout(Duration wanted) {
        return new Command(argv, env, directory, input, Optional.of(wanted), idleTimeout, outputLimit);
    }

    public Command withoutTimeout() {
        return new Command(argv, env, directory, input, Optional.empty(), idleTimeout, outputLimit);
    }

    public Command withIdleTimeout(Duration wanted) {
        return new Command(argv, env, directory, input, timeout, Optional.of(wanted), outputLimit);
    }

    public Command withOutputLimit(long bytes) {
        return new Command(argv, env, directory, input, timeout, idleTimeout, bytes);
    }

    private static void requireNoNul(String field, String text) {
        require(text.indexOf('\0') < 0, field, "must not hold a NUL character");
    }

    private static void requirePositive(String field, Duration time) {
        require(time.isPositive(), field, "must be more than zero");
    }
}
