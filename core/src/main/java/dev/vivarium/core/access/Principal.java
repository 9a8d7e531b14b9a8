package dev.vivarium.core.access;

import dev.vivarium.model.UserId;
import java.util.Optional;

/// Who calls. Immutable.
public sealed interface Principal {
    /// Whoever runs the server: may act for any user.
    record Admin() implements Principal {}

    /// One user, who sees nothing but their own threads.
    record User(UserId name) implements Principal {}

    /// Reports whether this caller may see and use what belongs to `owner`.
    default boolean mayActFor(UserId owner) {
        return switch (this) {
            case Admin _ -> true;
            case User caller -> caller.name().equals(owner);
        };
    }

    /// The one user this caller is, if it is one.
    default Optional<UserId> user() {
        return switch (this) {
            case Admin _ -> Optional.empty();
            case User caller -> Optional.of(caller.name());
        };
    }
}
