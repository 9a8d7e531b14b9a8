package dev.vivarium.server.feed;

import static dev.vivarium.json.IdTypes.SANDBOX_ID;
import static dev.vivarium.json.JsonType.LONG;
import static dev.vivarium.json.JsonType.RAW_OBJECT;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.JsonType.TIME;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.json.ObjectType.optional;

import dev.vivarium.core.access.Scope;
import dev.vivarium.core.access.Scopes;
import dev.vivarium.json.EventJson;
import dev.vivarium.json.Json;
import dev.vivarium.json.JsonType;
import dev.vivarium.json.ObjectType;
import dev.vivarium.model.Event;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import tools.jackson.core.JsonGenerator;

/// Event as one reader may see it. Immutable.
///
/// File content and command output require the scope that gives access to them elsewhere. Without that scope, the event
/// omits the content and names the omitted fields. Every response with events must write them with this class.
///
/// @param withheld names of the omitted data fields
/// @param needs scope that shows the omitted fields
public record VisibleEvent(Event event, List<String> withheld, Scope needs) {
    /// An event in a list of the events of a sandbox.
    public static final ObjectType<VisibleEvent> EVENT = object(
            "Event",
            field("id", STRING, visible -> visible.event().id()),
            field("seq", LONG, visible -> visible.event().seq()),
            field("sandbox_id", SANDBOX_ID, visible -> visible.event().sandbox().orElseThrow()),
            field("event_type", STRING, visible -> visible.event().type()),
            field("event_data", RAW_OBJECT, visible -> visible.event().data()),
            field("source", STRING, visible -> visible.event().source()),
            field("created_at", TIME, visible -> visible.event().at()),
            optional(
                    "withheld",
                    JsonType.list(STRING),
                    "The fields of `event_data` that the caller may not see. Absent if there are none.",
                    visible -> visible.isWhole() ? Optional.empty() : Optional.of(visible.withheld())),
            optional(
                    "needs",
                    STRING,
                    "The scope that shows the withheld fields.",
                    visible -> visible.isWhole()
                            ? Optional.empty()
                            : Optional.of(visible.needs().text())));

    private static final List<Rule> RULES = List.of(
            // Metadata of a file. Any other field can contain its text, or can confirm a guess of it.
            new Rule(
                    type -> type.startsWith("file."),
                    Set.of(
                            "path",
                            "action",
                            "directory",
                            "files",
                            "type",
                            "size",
                            "diff_truncated",
                            "created",
                            "modified",
                            "deleted",
                            "directories",
                            "incomplete"),
                    List.of(Scope.FS_RO)),
            // Tools read and write files, so their input and result contain the text.
            new Rule(
                    type -> type.equals("agent.tool_use") || type.equals("agent.tool_result"),
                    Set.of("tool_use_id", "tool_name", "status", "is_error", "truncated"),
                    List.of(Scope.FS_RO)),
            new Rule(
                    type -> type.equals("command.output") || type.equals("agent.output"),
                    Set.of("pid", "process_id", "session_id", "kind", "stream", "folded_bytes", "truncated"),
                    List.of(Scope.SHELL_RO, Scope.PROCESS)));

    /// Event types of the rule, the fields that every reader sees, and the scopes, of which one shows the other
    /// fields.
    private record Rule(Predicate<String> types, Set<String> open, List<Scope> scopes) {}

    public VisibleEvent {
        withheld = List.copyOf(withheld);
    }

    /// Returns the event for a reader with these scopes.
    public static VisibleEvent of(Event event, Scopes scopes) {
        for (Rule rule : RULES) {
            if (rule.types().test(event.type()) && rule.scopes().stream().noneMatch(scopes::allows)) {
                return without(event, rule);
            }
        }
        return new VisibleEvent(event, List.of(), Scope.SHELL_RO);
    }

    private static VisibleEvent without(Event event, Rule rule) {
        var data = Json.answer(event.data());
        var withheld = data.names().stream()
                .filter(name -> !rule.open().contains(name))
                .toList();
        Event rest = withheld.isEmpty() ? event : event.withData(data.text(rule.open()));
        return new VisibleEvent(rest, withheld, rule.scopes().getFirst());
    }

    private boolean isWhole() {
        return withheld.isEmpty();
    }

    /// Writes the fields of the event for a list of events.
    public void write(JsonGenerator out) {
        EVENT.writeFields(out, this);
    }

    /// Writes the fields of the event for a WebSocket message, after the message type.
    public void message(JsonGenerator out) {
        EventJson.message(out, event);
        if (!isWhole()) {
            out.writeArrayPropertyStart("withheld");
            withheld.forEach(out::writeString);
            out.writeEndArray();
            out.writeStringProperty("needs", needs.text());
        }
    }
}
