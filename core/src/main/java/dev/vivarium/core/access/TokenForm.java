package dev.vivarium.core.access;

import dev.vivarium.model.SandboxId;
import java.util.Optional;

/// How claims become a token and are found again. Implementations are thread-safe.
interface TokenForm {
    /// A token for these claims, which must be of the present key of their sandbox.
    String write(Claims claims);

    /// The claims of a token, if this server wrote it under a key that its sandbox still has. Whether it is over,
    /// or was revoked, is not asked here.
    Optional<Claims> read(String token);

    /// Every token of this sandbox is worth nothing any more.
    void forget(SandboxId sandbox);

    /// Forgets what is over.
    void prune();
}
