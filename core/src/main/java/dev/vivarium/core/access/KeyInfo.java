package dev.vivarium.core.access;

import dev.vivarium.model.UserId;
import java.time.Instant;
import java.util.Optional;

/// Public data of a user's key, without the key. Immutable.
///
/// @param lastUsedAt last request with the key, on any server; empty if the key is unused
public record KeyInfo(
        String keyId,
        UserId user,
        Instant createdAt,
        Optional<String> label,
        Optional<Instant> lastUsedAt,
        Optional<Instant> expiresAt) {}
