package dev.vivarium.server.api;

import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.json.ObjectType.optional;

import dev.vivarium.json.JsonType;
import dev.vivarium.json.ObjectType;
import dev.vivarium.model.ListPlace;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/// Page of a list. Immutable.
///
/// @param next cursor of the next page; empty for the last page
record ListPage<T>(List<T> entries, Optional<String> next) {
    /// Description of the query parameter `cursor`.
    static final String CURSOR_TEXT = "The `next_cursor` of the previous page.";

    ListPage {
        entries = List.copyOf(entries);
    }

    /// Returns the first page of entries, of which one more than `limit` was read if there are so many.
    static <T> ListPage<T> of(List<T> found, int limit, Function<T, ListPlace> place) {
        var page = found.subList(0, Math.min(limit, found.size()));
        boolean hasMore = found.size() > limit;
        return new ListPage<>(
                page, hasMore ? Optional.of(place.apply(page.getLast()).cursor()) : Optional.empty());
    }

    /// Returns a page that is also the whole list.
    static <T> ListPage<T> whole(List<T> entries) {
        return new ListPage<>(entries, Optional.empty());
    }

    <R> ListPage<R> map(Function<T, R> change) {
        return new ListPage<>(entries.stream().map(change).toList(), next);
    }

    /// Returns the JSON form of a page.
    ///
    /// @param list name of the member with the entries
    static <T> ObjectType<ListPage<T>> type(String name, String list, JsonType<T> entry) {
        return object(
                name,
                field(list, JsonType.list(entry), ListPage::entries),
                optional("next_cursor", STRING, "Present if there are more.", ListPage::next));
    }
}
