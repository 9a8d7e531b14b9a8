package dev.vivarium.core.access;

import dev.vivarium.model.SandboxId;
import dev.vivarium.model.ThreadKey;
import dev.vivarium.model.UserId;
import java.time.Duration;
import java.util.List;

/// Content of a token to issue. Immutable.
public record TokenRequest(
        UserId subject,
        Grant.Standing standing,
        SandboxId sandbox,
        ThreadKey key,
        Scopes scopes,
        Duration ttl,
        List<String> ancestors) {
    /// Minimum lifetime that a client can request. A token derived from another may have less left.
    public static final Duration MIN_TTL = Duration.ofMinutes(1);

    public static final Duration MAX_TTL = Duration.ofMinutes(15);

    public TokenRequest {
        ttl = ttl.compareTo(MAX_TTL) > 0 ? MAX_TTL : ttl;
        ancestors = List.copyOf(ancestors);
    }
}
