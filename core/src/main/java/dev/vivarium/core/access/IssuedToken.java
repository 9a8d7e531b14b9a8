package dev.vivarium.core.access;

import java.time.Duration;
import java.time.Instant;

/// A newly issued token with its grant. Only this object contains the token. Immutable.
public record IssuedToken(String token, Grant grant, Instant issuedAt) {
    /// Returns the time at which a client should refresh the token: when a third of its lifetime remains.
    public Instant refreshBefore() {
        return grant.expires().minus(Duration.between(issuedAt, grant.expires()).dividedBy(3));
    }

    @Override
    public String toString() {
        return "IssuedToken[" + grant.jti() + ", ***]";
    }
}
