package dev.vivarium.server.feed;

import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.Event;
import dev.vivarium.model.SandboxException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;

/// Entities of an event: its sandbox, its thread, and the task and the run in its data. Immutable.
record EventEntities(Event event, Supplier<Optional<String>> thread) {
    static final Set<String> KINDS = Set.of("sandbox", "thread", "task", "run");

    static void require(String kind) {
        if (!KINDS.contains(kind)) {
            throw FeedFilter.refused(
                    "entity_types", "may hold " + String.join(", ", new TreeSet<>(KINDS)) + ", and not " + kind);
        }
    }

    /// Reports whether the event concerns an entity of one of these kinds.
    boolean hasAny(Set<String> kinds) {
        return kinds.contains("sandbox")
                || kinds.contains("thread") && thread.get().isPresent()
                || kinds.contains("task") && named("task").isPresent()
                || kinds.contains("run") && named("run").isPresent();
    }

    /// Reports whether the event concerns an entity of one of these kinds with one of these ids.
    boolean hasAny(Set<String> kinds, Set<String> ids) {
        return kinds.contains("sandbox") && ids.contains(event.sandbox().value())
                || kinds.contains("thread")
                        && thread.get().filter(ids::contains).isPresent()
                || kinds.contains("task") && named("task").filter(ids::contains).isPresent()
                || kinds.contains("run") && named("run").filter(ids::contains).isPresent();
    }

    /// Returns the id in the event's data. The text search avoids parsing, because most data contains no id.
    private Optional<String> named(String kind) {
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
