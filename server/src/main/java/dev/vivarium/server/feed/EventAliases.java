package dev.vivarium.server.feed;

import dev.vivarium.model.Event;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/// Names of events on the bus of other systems, such as `SANDBOX_AGENT_STARTED`, as aliases in filters. Stateless.
///
/// `SANDBOX_` and a type in capitals means that type. Some names differ from the types of this server.
final class EventAliases {
    private static final String SANDBOX = "SANDBOX_";
    private static final Set<String> FAMILIES = Set.of("agent", "file", "command", "user", "guardian", "sandbox");

    private static final String RUN_ENDED = "sandbox.run_ended";

    private static final Map<String, Set<String>> TYPES = Map.ofEntries(
            Map.entry("SANDBOX_SPAWNED", Set.of("sandbox.started")),
            Map.entry(
                    "SANDBOX_MESSAGE_QUEUED",
                    Set.of(
                            "user.message",
                            "user.interrupt",
                            "user.guidance",
                            "guardian.intervention",
                            "sandbox.message")),
            Map.entry("TASK_CREATED", Set.of("task.pending")),
            Map.entry("TASK_ASSIGNED", Set.of("sandbox.run_started", "task.assigned")),
            Map.entry("TASK_STARTED", Set.of("sandbox.run_started", "task.running")),
            Map.entry("TASK_COMPLETED", Set.of(RUN_ENDED, "task.completed")),
            Map.entry("TASK_FAILED", Set.of(RUN_ENDED, "task.failed")),
            Map.entry("TASK_STATUS_CHANGED", Set.of("agent.status")),
            Map.entry("STATUS_CHANGED", Set.of("agent.status")),
            Map.entry("PROGRESS", Set.of("agent.progress")),
            Map.entry("RESULTS_SUBMITTED", Set.of("agent.results")),
            Map.entry("REVIEW_REQUESTED", Set.of("agent.review_requested")));

    /// Names that mean only a part of the events of their type, and the text in their data.
    private static final Map<String, String> PARTS = Map.of(
            "TASK_COMPLETED", "\"status\":\"completed\"",
            "TASK_FAILED", "\"status\":\"failed\"");

    private EventAliases() {}

    /// Reports whether `name` is an alias that means this event.
    static boolean matches(String name, Event event) {
        boolean isPart = event.data().contains(PARTS.getOrDefault(name, ""));
        return isPart && TYPES.getOrDefault(name, Set.of(type(name))).contains(event.type());
    }

    /// Returns the types of the events that a name can mean.
    static Set<String> typesOf(String name) {
        return TYPES.getOrDefault(name, Set.of(type(name)));
    }

    /// Returns the type of a name such as `SANDBOX_AGENT_TOOL_USE`; empty for any other text.
    private static String type(String name) {
        if (!name.startsWith(SANDBOX)) {
            return "";
        }
        String words = name.substring(SANDBOX.length()).toLowerCase(Locale.ROOT);
        int end = words.indexOf('_');
        boolean isFamily = end > 0 && FAMILIES.contains(words.substring(0, end));
        return isFamily ? words.substring(0, end) + "." + words.substring(end + 1) : "sandbox." + words;
    }
}
