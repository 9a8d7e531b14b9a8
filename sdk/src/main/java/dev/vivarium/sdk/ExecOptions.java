package dev.vivarium.sdk;

import dev.vivarium.model.Command;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/// Limits and environment of a command. Immutable.
///
/// @param timeout     kills the command and its descendants after this time; the exit code is 124
/// @param idleTimeout the same after this time without output
/// @param directory   working directory, relative to the workspace; empty for the workspace
/// @param env         variables in addition to those of the sandbox
/// @param onExpiry    behaviour if the sandbox expired before the command starts
public record ExecOptions(
        Duration timeout,
        Optional<Duration> idleTimeout,
        String directory,
        Map<String, String> env,
        OnExpiry onExpiry) {
    /// Thirty seconds, in the workspace.
    public static final ExecOptions STANDARD =
            new ExecOptions(Duration.ofSeconds(30), Optional.empty(), "", Map.of(), OnExpiry.RECREATE);

    /// Behaviour if the sandbox expired before the command starts.
    public enum OnExpiry {
        /// Create a new sandbox with an empty workspace and start the command there, once.
        RECREATE,
        /// Fail with `NoSuchSandbox`.
        FAIL
    }

    public ExecOptions {
        env = Map.copyOf(env);
    }

    public ExecOptions withTimeout(Duration wanted) {
        return new ExecOptions(wanted, idleTimeout, directory, env, onExpiry);
    }

    public ExecOptions withIdleTimeout(Duration wanted) {
        return new ExecOptions(timeout, Optional.of(wanted), directory, env, onExpiry);
    }

    public ExecOptions withDirectory(String wanted) {
        return new ExecOptions(timeout, idleTimeout, wanted, env, onExpiry);
    }

    public ExecOptions withEnv(Map<String, String> wanted) {
        return new ExecOptions(timeout, idleTimeout, directory, wanted, onExpiry);
    }

    public ExecOptions withOnExpiry(OnExpiry wanted) {
        return new ExecOptions(timeout, idleTimeout, directory, env, wanted);
    }

    Command shell(String script) {
        Command command = Command.shell(script)
                .withTimeout(timeout)
                .withDirectory(directory)
                .withEnv(env);
        return idleTimeout.map(command::withIdleTimeout).orElse(command);
    }
}
