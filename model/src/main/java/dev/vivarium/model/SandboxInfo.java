package dev.vivarium.model;

import java.time.Instant;
import java.util.Optional;

/// What a caller may know of a sandbox: whose it is, how it is, and when and why it will end (or has ended). Immutable.
///
/// `expiresAt` is when it ends if nobody uses it again; `endsAt` is its absolute lifetime, which no use extends.
/// `stateReason` says why the server paused it; it is empty if somebody asked for the pause.
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
    /// The same sandbox once it has ended.
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
