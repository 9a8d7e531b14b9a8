package dev.vivarium.core.access;

import dev.vivarium.model.UserId;
import java.time.Instant;

/// What may be shown of a user's key: never the key. Immutable.
public record KeyInfo(String keyId, UserId user, Instant createdAt) {}
