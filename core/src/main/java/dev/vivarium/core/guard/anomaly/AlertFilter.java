package dev.vivarium.core.guard.anomaly;

import dev.vivarium.model.Alert;
import dev.vivarium.model.UserId;
import java.util.Optional;

/// Filter for alerts. Immutable.
///
/// @param user  owner; empty for the alerts of all users
/// @param after number after which the page begins; empty for the newest alerts
public record AlertFilter(Optional<UserId> user, Optional<Long> after, Optional<Alert.Severity> severity, int limit) {}
