package dev.vivarium.server.feed;

import dev.vivarium.core.access.Scope;
import dev.vivarium.core.access.Scopes;
import dev.vivarium.json.EventJson;
import dev.vivarium.json.Json;
import dev.vivarium.model.Event;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import tools.jackson.core.JsonGenerator;

/// An event as one reader may see it. File content, and the output of commands, need the scope with which the reader
/// could get them elsewhere. Without it the event stays, its content is left out, and the event says so. Every answer
/// that holds events writes them by this class. Immutable.
///
/// @param withheld the names of the fields of the data that were left out
/// @param needs the scope that shows them
public record VisibleEvent(Event event, List<String> withheld, Scope needs) {
    private static final List<Rule> RULES = List.of(
            // What may be known of a file without reading it. Any other field may hold its text, or prove a guess of
            // it.
            new Rule(
                    type -> type.startsWith("file."),
                    Set.of(
                            "path",
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
            // Tools read and write files, and their input and result are the text.
            new Rule(
                    type -> type.equals("agent.tool_use") || type.equals("agent.tool_result"),
                    Set.of("tool_use_id", "tool_name", "is_error", "truncated"),
                    List.of(Scope.FS_RO)),
            new Rule(
                    type -> type.equals("command.output") || type.equals("agent.output"),
                    Set.of("pid", "process_id", "session_id", "kind", "stream", "folded_bytes", "truncated"),
                    List.of(Scope.SHELL_RO, Scope.PROCESS)));

    /// Of the events that it is for, the fields that everybody sees, and the scopes of which one shows the rest.
    private record Rule(Predicate<String> types, Set<String> open, List<Scope> scopes) {}

    public VisibleEvent {
        withheld = List.copyOf(withheld);
    }

    /// The event for a reader with these scopes.
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

    /// As a list of the log shows it, between its braces.
    public void write(JsonGenerator out) {
        EventJson.write(out, event);
        mark(out);
    }

    /// As a socket shows it, after the type of the message.
    public void message(JsonGenerator out) {
        EventJson.message(out, event);
        mark(out);
    }

    private void mark(JsonGenerator out) {
        if (!withheld.isEmpty()) {
            out.writeArrayPropertyStart("withheld");
            withheld.forEach(out::writeString);
            out.writeEndArray();
            out.writeStringProperty("needs", needs.text());
        }
    }
}
