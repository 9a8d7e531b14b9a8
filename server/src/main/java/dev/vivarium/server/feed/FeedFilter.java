package dev.vivarium.server.feed;

import static dev.vivarium.model.Failure.InvalidRequest.require;

import dev.vivarium.json.JsonFields;
import dev.vivarium.model.Event;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.http.Exchange;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Collectors;
import tools.jackson.core.JsonGenerator;

/// Filter for events by type, entity kind and entity id. Immutable.
///
/// An absent set matches everything, and an empty set matches nothing.
///
/// @param types whole types (`agent.started`), prefixes that end with a dot (`agent.`), or [EventAliases]
public record FeedFilter(
        Optional<Set<String>> types, Optional<Set<String>> entityTypes, Optional<Set<String>> entityIds) {
    private static final FeedFilter ALL = new FeedFilter(Optional.empty(), Optional.empty(), Optional.empty());

    private static final int MAX_ENTRIES = 100;
    private static final int MAX_LENGTH = 100;
    private static final String TYPES = "event_types";
    private static final String ENTITY_TYPES = "entity_types";
    private static final String ENTITY_IDS = "entity_ids";

    public FeedFilter {
        types = checked(TYPES, types).map(FeedFilter::withoutStars);
        entityTypes = checked(ENTITY_TYPES, entityTypes);
        entityIds = checked(ENTITY_IDS, entityIds);
        entityTypes.ifPresent(kinds -> kinds.forEach(EventEntities::require));
    }

    /// Replaces `command.*` by the prefix `command.`. A star at another place would match nothing.
    private static Set<String> withoutStars(Set<String> types) {
        return types.stream().map(FeedFilter::withoutStar).collect(Collectors.toUnmodifiableSet());
    }

    private static String withoutStar(String type) {
        String prefix = type.endsWith(".*") ? type.substring(0, type.length() - 1) : type;
        require(prefix.indexOf('*') < 0, TYPES, "may have a star only at the end, after a dot, as in `command.*`");
        return prefix;
    }

    private static Optional<Set<String>> checked(String name, Optional<Set<String>> wanted) {
        wanted.ifPresent(texts -> {
            if (texts.size() > MAX_ENTRIES) {
                throw SandboxException.invalid(
                        name, "has " + texts.size() + " entries; at most " + MAX_ENTRIES + " are taken");
            }
            require(
                    texts.stream().noneMatch(text -> text.isBlank() || text.length() > MAX_LENGTH),
                    name,
                    "must hold texts of 1 to " + MAX_LENGTH + " characters");
        });
        return wanted.map(Set::copyOf);
    }

    /// Reads a filter from a message. An empty list counts as absent.
    public static FeedFilter read(JsonFields fields) {
        return of(name -> fields.optionalStrings(name).orElse(List.of()));
    }

    /// Reads only the types from a message, for a subscription to one sandbox.
    public static FeedFilter readTypes(JsonFields fields) {
        return of(name -> name.equals(TYPES) ? fields.optionalStrings(name).orElse(List.of()) : List.of());
    }

    /// Reads a filter from a query with comma-separated lists.
    public static FeedFilter of(Exchange exchange) {
        return of(name -> exchange.optionalQuery(name)
                .filter(list -> !list.isEmpty())
                .map(list -> List.of(list.split(",", -1)))
                .orElse(List.of()));
    }

    private static FeedFilter of(Function<String, List<String>> lists) {
        return new FeedFilter(
                nonEmpty(lists.apply(TYPES)), nonEmpty(lists.apply(ENTITY_TYPES)), nonEmpty(lists.apply(ENTITY_IDS)));
    }

    private static Optional<Set<String>> nonEmpty(List<String> texts) {
        return texts.isEmpty() ? Optional.empty() : Optional.of(new TreeSet<>(texts));
    }

    /// Returns this filter, or `defaults` if this filter matches everything.
    public FeedFilter orDefault(FeedFilter defaults) {
        return equals(ALL) ? defaults : this;
    }

    /// Returns this filter extended by `more`. If a set is absent in this filter, the result has
    /// only the set of `more`.
    public FeedFilter with(FeedFilter more) {
        return merged(more, (all, some) -> {
            all.addAll(some);
            return all;
        });
    }

    /// Returns this filter without the entries of `less`. The result can match nothing.
    public FeedFilter without(FeedFilter less) {
        if (less.types.isPresent() && types.isEmpty()
                || less.entityTypes.isPresent() && entityTypes.isEmpty()
                || less.entityIds.isPresent() && entityIds.isEmpty()) {
            throw SandboxException.invalid(
                    "type", "cannot be unsubscribe before a list is selected; send filter or subscribe first");
        }
        return merged(less, (all, some) -> {
            all.removeAll(some);
            return all;
        });
    }

    private FeedFilter merged(FeedFilter other, BiFunction<Set<String>, Set<String>, Set<String>> merge) {
        return new FeedFilter(
                merged(types, other.types, merge),
                merged(entityTypes, other.entityTypes, merge),
                merged(entityIds, other.entityIds, merge));
    }

    private static Optional<Set<String>> merged(
            Optional<Set<String>> mine,
            Optional<Set<String>> other,
            BiFunction<Set<String>, Set<String>, Set<String>> merge) {
        return other.isEmpty() ? mine : Optional.of(merge.apply(new TreeSet<>(mine.orElse(Set.of())), other.get()));
    }

    /// Reports whether the filter matches the type of an event.
    public boolean includesType(Event event) {
        return types.isEmpty() || types.get().stream().anyMatch(wanted -> matches(wanted, event));
    }

    private static boolean matches(String wanted, Event event) {
        return wanted.endsWith(".")
                ? event.type().startsWith(wanted)
                : event.type().equals(wanted) || EventAliases.matches(wanted, event);
    }

    /// Reports whether the filter matches an event with these entities.
    boolean includes(Event event, EventEntities about) {
        if (!includesType(event)) {
            return false;
        }
        if (entityTypes.isEmpty() && entityIds.isEmpty()) {
            return true;
        }
        Set<String> kinds = entityTypes.orElse(EventEntities.KINDS);
        return about.hasAny(kinds, id -> entityIds.isEmpty() || entityIds.get().contains(id));
    }

    /// Writes the filter without its absent sets.
    public void write(JsonGenerator out) {
        write(out, TYPES, types);
        write(out, ENTITY_TYPES, entityTypes);
        write(out, ENTITY_IDS, entityIds);
    }

    private static void write(JsonGenerator out, String name, Optional<Set<String>> texts) {
        texts.ifPresent(some -> {
            out.writeArrayPropertyStart(name);
            new TreeSet<>(some).forEach(out::writeString);
            out.writeEndArray();
        });
    }
}
