package dev.vivarium.server.feed;

import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.Event;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.function.Supplier;

/// Entities of an event: its sandbox, its thread, and the task, the run, the agent and the ticket in its data.
/// Immutable.
///
/// The agent is the run, which other systems call so, or the `agent_id` in the data.
record EventEntities(Event event, Supplier<Optional<String>> thread) {
    static final Set<String> KINDS = Set.of("sandbox", "thread", "task", "run", "agent", "ticket");

    static void require(String kind) {
        if (!KINDS.contains(kind)) {
            throw SandboxException.invalid(
                    "entity_types", "may hold " + String.join(", ", new TreeSet<>(KINDS)) + ", and not " + kind);
        }
    }

    /// Reports whether the event concerns an entity of one of these kinds with a wanted id.
    boolean hasAny(Set<String> kinds, Predicate<String> isWanted) {
        return kinds.contains("sandbox")
                        && event.sandbox()
                                .map(SandboxId::value)
                                .filter(isWanted)
                                .isPresent()
                || kinds.contains("thread") && thread.get().filter(isWanted).isPresent()
                || kinds.contains("task") && named("task").filter(isWanted).isPresent()
                || kinds.contains("run") && named("run").filter(isWanted).isPresent()
                || kinds.contains("ticket") && named("ticket").filter(isWanted).isPresent()
                || kinds.contains("agent")
                        && named("agent")
                                .or(() -> named("run"))
                                .filter(isWanted)
                                .isPresent();
    }

    /// Returns the id in the event's data. The text search avoids parsing, because most data contains no id.
    Optional<String> named(String kind) {
        String field = kind + "_id";
        if (!event.data().contains("\"" + field + "\"")) {
            return Optional.empty();
        }
        try {
            JsonFields data = Json.request(event.data().getBytes(StandardCharsets.UTF_8));
            return data.optionalString(field);
        } catch (SandboxException e) {
            return Optional.empty();
        }
    }
}
