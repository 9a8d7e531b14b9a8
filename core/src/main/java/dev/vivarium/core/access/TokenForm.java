package dev.vivarium.core.access;

import dev.vivarium.model.SandboxId;
import java.util.Optional;

/// Token format: encodes claims in a token and reads them back. Thread-safe.
interface TokenForm {
    /// Creates a token for these claims, which must carry the current key of their sandbox.
    String write(Claims claims);

    /// Returns the claims of a token that this server issued under the current key of its sandbox. Does not check
    /// expiry or revocation.
    Optional<Claims> read(String token);

    /// Returns the claims of a token that was valid, or expired, when its sandbox ended. Empty some time after the
    /// end.
    Optional<Claims> readEnded(String token);

    /// Drops every token of this sandbox.
    void forget(SandboxId sandbox);

    /// Drops expired tokens.
    void prune();
}
