package dev.vivarium.model;

import java.util.Map;
import java.util.Optional;

/// Options of the sandboxes in which the attempts of a task run. Immutable.
public record TaskSandbox(
        Map<String, String> env, Optional<Limits> limits, Optional<Egress> egress, Optional<String> image) {
    public static final TaskSandbox DEFAULT =
            new TaskSandbox(Map.of(), Optional.empty(), Optional.empty(), Optional.empty());

    public TaskSandbox {
        env = Map.copyOf(env);
    }

    /// Returns the request for the sandbox of an attempt.
    public NewSandbox request(ThreadKey key) {
        return new NewSandbox(
                key.user(), key.thread(), Optional.empty(), limits, env, egress, image, Optional.of(OnIdle.END));
    }
}
