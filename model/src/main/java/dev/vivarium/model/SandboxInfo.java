package dev.vivarium.model;

import java.time.Instant;
import java.util.Optional;

/// Public data of a sandbox: owner, status, limits and lifetime. Immutable.
///
/// `expiresAt` is the time at which an unused sandbox ends or hibernates, as `onIdle` says. `endsAt` is the end of its
/// absolute lifetime, which no use extends. For a hibernated sandbox, both are the time at which its disk is deleted.
/// After the end, neither is later than the end. `stateReason` explains why the server paused or hibernated it; it is
/// empty if a client did.
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
        OnIdle onIdle,
        Optional<End> end,
        Optional<String> stateReason) {
    public SandboxInfo {
        if (end.isPresent()) {
            expiresAt = earlier(expiresAt, end.get().at());
            endsAt = earlier(endsAt, end.get().at());
        }
    }

    private static Instant earlier(Instant one, Instant other) {
        return one.isBefore(other) ? one : other;
    }

    public ThreadKey key() {
        return new ThreadKey(user, thread);
    }

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
                onIdle,
                Optional.of(how),
                Optional.empty());
    }
}
