package dev.vivarium.core.access;

import java.util.Collection;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/// What somebody may do to a sandbox. The stronger of two scopes stands for both: `fs:rw` for `fs:ro`, `shell` for
/// `shell:ro`. Immutable.
public record Scopes(Set<Scope> all) {
    /// Everything there is.
    public static final Scopes ALL = of(EnumSet.allOf(Scope.class));

    /// Nothing at all.
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

    /// Reads names with single spaces between them, as a token has them.
    public static Scopes parse(String text) {
        return text.isEmpty() ? NONE : ofNames(List.of(text.split(" ", -1)));
    }

    /// Reads names, as a request has them.
    public static Scopes ofNames(List<String> names) {
        return of(names.stream().map(Scope::of).toList());
    }

    /// Reports whether `wanted` may be done.
    public boolean allows(Scope wanted) {
        return all.stream().anyMatch(scope -> scope.covers(wanted));
    }

    /// What both allow: of a scope that is too strong, its weaker half is left.
    public Scopes narrow(Scopes most) {
        var kept = EnumSet.noneOf(Scope.class);
        for (Scope scope : Scope.values()) {
            if (allows(scope) && most.allows(scope)) {
                kept.add(scope);
            }
        }
        return new Scopes(kept);
    }

    public boolean isEmpty() {
        return all.isEmpty();
    }

    /// The names, in one order for all.
    public List<String> names() {
        return all.stream().map(Scope::text).toList();
    }

    /// The names with single spaces between them.
    public String text() {
        return all.stream().map(Scope::text).collect(Collectors.joining(" "));
    }

    @Override
    public String toString() {
        return text();
    }
}
