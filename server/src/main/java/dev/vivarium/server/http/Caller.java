package dev.vivarium.server.http;

import dev.vivarium.core.access.Principal;
import dev.vivarium.core.access.Scopes;
import dev.vivarium.core.sandbox.Sandbox;
import java.util.Optional;

/// Who was let in, and for a route of one sandbox which one and what they may do to it. Immutable.
public record Caller(Optional<Principal> principal, Optional<Sandbox> sandbox, Scopes scopes) {
    /// Somebody on an open route.
    static final Caller ANYBODY = new Caller(Optional.empty(), Optional.empty(), Scopes.NONE);

    /// Somebody who is not at one sandbox.
    public static Caller of(Principal principal) {
        return new Caller(Optional.of(principal), Optional.empty(), Scopes.NONE);
    }
}
