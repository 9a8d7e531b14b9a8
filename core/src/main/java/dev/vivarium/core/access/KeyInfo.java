package dev.vivarium.core.access;

import dev.vivarium.model.UserId;
import java.time.Instant;

/// Public data of a user's key, without the key. Immutable.
public record KeyInfo(String keyId, UserId user, Instant createdAt) {}
