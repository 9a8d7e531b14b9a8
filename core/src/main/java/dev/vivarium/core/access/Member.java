package dev.vivarium.core.access;

import dev.vivarium.model.UserId;
import java.time.Instant;

/// Somebody who was invited to another user's thread, and the most they may do there. Immutable.
public record Member(UserId user, Scopes most, Instant invitedAt) {}
