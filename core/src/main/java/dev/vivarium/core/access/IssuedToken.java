package dev.vivarium.core.access;

import java.time.Duration;
import java.time.Instant;

/// A token at the one moment when it can be read, and what it says. Immutable.
public record IssuedToken(String token, Grant grant, Instant issuedAt) {
    /// When a client should ask for the next one: a third of its life before it ends.
    public Instant refreshBefore() {
        return grant.expires().minus(Duration.between(issuedAt, grant.expires()).dividedBy(3));
    }

    @Override
    public String toString() {
        return "IssuedToken[" + grant.jti() + ", ***]";
    }
}
