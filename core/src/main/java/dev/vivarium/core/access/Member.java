package dev.vivarium.core.access;

import dev.vivarium.model.UserId;
import java.time.Instant;

/// User invited to a thread of another user, with the maximum scopes. Immutable.
public record Member(UserId user, Scopes maxScopes, Instant invitedAt) {}
