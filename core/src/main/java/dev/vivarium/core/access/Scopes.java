package dev.vivarium.core.access;

import java.util.Collection;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/// Set of scopes on a sandbox. Immutable.
///
/// A stronger scope replaces the weaker one: `fs:rw` replaces `fs:ro`, and `shell` replaces `shell:ro`.
public record Scopes(Set<Scope> all) {
    public static final Scopes ALL = of(EnumSet.allOf(Scope.class));

    public static final Scopes NONE = of(List.of());

    public Scopes {
        var kept = EnumSet.noneOf(Scope.class);
        kept.addAll(all);
        all.forEach(scope -> scope.weaker().ifPresent(kept::remove));
        all = Collections.unmodifiableSet(kept);
    }

    public static Scopes of(Scope... scopes) {
        return of(List.of(scopes));
    }

    public static Scopes of(Collection<Scope> scopes) {
        return new Scopes(scopes.isEmpty() ? Set.of() : EnumSet.copyOf(scopes));
    }

    /// Parses names separated by single spaces, as in a token.
    public static Scopes parse(String text) {
        return text.isEmpty() ? NONE : ofNames(List.of(text.split(" ", -1)));
    }

    public static Scopes ofNames(List<String> names) {
        return of(names.stream().map(Scope::of).toList());
    }

    public boolean allows(Scope wanted) {
        return all.stream().anyMatch(scope -> scope.covers(wanted));
    }

    /// Returns the scopes that both sets allow. A scope that `max` does not allow is reduced to its read-only
    /// form.
    public Scopes narrow(Scopes max) {
        var kept = EnumSet.noneOf(Scope.class);
        for (Scope scope : Scope.values()) {
            if (allows(scope) && max.allows(scope)) {
                kept.add(scope);
            }
        }
        return new Scopes(kept);
    }

    public boolean isEmpty() {
        return all.isEmpty();
    }

    /// Returns the names in a fixed order.
    public List<String> names() {
        return all.stream().map(Scope::text).toList();
    }

    /// Returns the names separated by single spaces.
    public String text() {
        return all.stream().map(Scope::text).collect(Collectors.joining(" "));
    }

    @Override
    public String toString() {
        return text();
    }
}
