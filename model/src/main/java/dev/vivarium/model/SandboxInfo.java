package dev.vivarium.model;

import java.time.Instant;
import java.util.Optional;

/// Public data of a sandbox: owner, status, limits and lifetime. Immutable.
///
/// `expiresAt` is the time at which an unused sandbox ends. `endsAt` is the end of its absolute lifetime, which no use
/// extends. `stateReason` explains why the server paused it; it is empty if a client did.
public record SandboxInfo(
        SandboxId id,
        ThreadId thread,
        UserId user,
        Status status,
        Limits limits,
        Instant createdAt,
        Instant lastActivity,
        Instant expiresAt,
        Instant endsAt,
        Optional<End> end,
        Optional<String> stateReason) {
    public SandboxInfo ended(Status as, End how) {
        return new SandboxInfo(
                id,
                thread,
                user,
                as,
                limits,
                createdAt,
                lastActivity,
                expiresAt,
                endsAt,
                Optional.of(how),
                Optional.empty());
    }
}
