package dev.vivarium.server.operation;

import dev.vivarium.core.access.Principal;
import dev.vivarium.core.guard.anomaly.AlertFilter;
import dev.vivarium.core.guard.anomaly.Alerts;
import dev.vivarium.model.Alert;
import dev.vivarium.model.SandboxException;
import java.util.List;
import java.util.Optional;

/// Operations on alerts. A user sees only alerts about own sandboxes and tasks. Thread-safe.
public final class UserAlerts {
    private final Alerts alerts;

    public UserAlerts(Alerts alerts) {
        this.alerts = alerts;
    }

    /// Returns the alerts of the caller, or of all users for the admin.
    ///
    /// @param after id of an alert, after which the list begins
    public List<Alert> list(Principal caller, Optional<String> after, Optional<Alert.Severity> severity, int limit) {
        return alerts.list(new AlertFilter(caller.user(), after.map(UserAlerts::number), severity, limit));
    }

    private static long number(String id) {
        return Alert.numberOf(id)
                .orElseThrow(() -> SandboxException.invalid("after", "must be the alert_id of an alert"));
    }

    public Alert acknowledge(Principal caller, String id) {
        return alerts.acknowledge(id, caller.name(), caller::mayActFor);
    }
}
