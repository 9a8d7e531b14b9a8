package dev.vivarium.core.log;

import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/// Selection of events by type. Immutable.
///
/// @param whole    whole types
/// @param prefixes beginnings of types. The empty prefix selects all events
public record EventTypes(Set<String> whole, Set<String> prefixes) {
    public static final EventTypes NONE = new EventTypes(Set.of(), Set.of());
    public static final EventTypes ALL = new EventTypes(Set.of(), Set.of(""));

    public EventTypes {
        whole = Set.copyOf(whole);
        prefixes = Set.copyOf(prefixes);
    }

    public static EventTypes of(Set<String> types) {
        return new EventTypes(types, Set.of());
    }

    /// Returns the selection of the events of all these selections.
    public static EventTypes union(Collection<EventTypes> all) {
        var whole = new HashSet<String>();
        var prefixes = new HashSet<String>();
        for (EventTypes one : all) {
            whole.addAll(one.whole);
            prefixes.addAll(one.prefixes);
        }
        return new EventTypes(whole, prefixes);
    }

    public boolean isNone() {
        return whole.isEmpty() && prefixes.isEmpty();
    }

    public boolean includes(String type) {
        return whole.contains(type) || prefixes.stream().anyMatch(type::startsWith);
    }

    /// Returns the condition on the column `event_type`, and appends its arguments to a list.
    String condition(List<Object> arguments) {
        if (prefixes.contains("")) {
            return "1 = 1";
        }
        arguments.addAll(whole);
        String text = whole.isEmpty()
                ? "1 = 0"
                : "event_type in (" + String.join(", ", Collections.nCopies(whole.size(), "?")) + ")";
        for (String prefix : prefixes) {
            arguments.add(prefix.length());
            arguments.add(prefix);
        }
        return text + " or substr(event_type, 1, ?) = ?".repeat(prefixes.size());
    }
}
