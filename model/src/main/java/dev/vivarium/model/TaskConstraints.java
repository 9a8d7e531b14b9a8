package dev.vivarium.model;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/// Constraints of a task that the server knows. An absent list allows everything. Immutable.
///
/// @param tools tools that the agent may use
/// @param paths files and directories that the agent may change, relative to the workspace
/// @param hosts hosts that the agent may connect to
public record TaskConstraints(
        Optional<List<String>> tools,
        Optional<List<String>> paths,
        Optional<List<String>> hosts,
        Optional<Duration> timeLimit) {
    public static final TaskConstraints NONE =
            new TaskConstraints(Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());

    public TaskConstraints {
        tools = tools.map(List::copyOf);
        paths = paths.map(List::copyOf);
        hosts = hosts.map(List::copyOf);
    }
}
