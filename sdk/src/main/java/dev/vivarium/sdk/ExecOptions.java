package dev.vivarium.sdk;

import dev.vivarium.model.Command;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/// What bounds a command and what it finds around it. Immutable.
///
/// @param timeout     after this long the command and all it started are killed; its exit code is 124
/// @param idleTimeout the same, when it has written nothing for this long
/// @param directory   where it runs, relative to the workspace; empty for the workspace itself
/// @param env         variables on top of the sandbox's own
/// @param onExpiry    what happens when the sandbox is found to be gone before the command starts
public record ExecOptions(
        Duration timeout,
        Optional<Duration> idleTimeout,
        String directory,
        Map<String, String> env,
        OnExpiry onExpiry) {
    /// Thirty seconds, in the workspace.
    public static final ExecOptions STANDARD =
            new ExecOptions(Duration.ofSeconds(30), Optional.empty(), "", Map.of(), OnExpiry.RECREATE);

    /// What to do when the sandbox expired before the command could start.
    public enum OnExpiry {
        /// Make a new sandbox, with an empty workspace, and start the command there; once.
        RECREATE,
        /// Say so with `NoSuchSandbox`.
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
