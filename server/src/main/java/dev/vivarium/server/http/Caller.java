package dev.vivarium.server.http;

import dev.vivarium.core.access.Principal;
import dev.vivarium.core.access.Scopes;
import dev.vivarium.core.sandbox.Sandbox;
import java.util.Optional;

/// Authenticated caller. On a route of one sandbox, it also has the sandbox and the caller's scopes. Immutable.
public record Caller(Optional<Principal> principal, Optional<Sandbox> sandbox, Scopes scopes) {
    /// Anonymous caller on an open route.
    static final Caller ANYBODY = new Caller(Optional.empty(), Optional.empty(), Scopes.NONE);

    /// Returns a caller on a route without a sandbox.
    public static Caller of(Principal principal) {
        return new Caller(Optional.of(principal), Optional.empty(), Scopes.NONE);
    }
}
