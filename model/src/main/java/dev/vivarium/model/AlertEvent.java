package dev.vivarium.model;

import java.util.Optional;

/// Events about the work of a user as a whole, in the log of the tasks of the user. Immutable.
public sealed interface AlertEvent extends EventBody {
    /// A figure is far from its usual values.
    ///
    /// @param scope     what the figure belongs to: `runtime claude, agent type coder`, or `user ann`
    /// @param metric    name of the figure, such as `duration_seconds`
    /// @param value     the unusual value
    /// @param baseline  the usual value
    /// @param deviation distance in standard deviations
    /// @param samples   number of values behind the baseline
    record AnomalyDetected(
            String scope,
            String metric,
            double value,
            double baseline,
            double deviation,
            long samples,
            Optional<RunId> run,
            Optional<TaskId> task)
            implements AlertEvent {}

    /// The server gave up a delivery of a webhook.
    record WebhookDead(WebhookId webhook, DeliveryId delivery, String eventType, int attempts, String error)
            implements AlertEvent {}

    @Override
    default String type() {
        return switch (this) {
            case AnomalyDetected _ -> "anomaly.detected";
            case WebhookDead _ -> "webhook.dead";
        };
    }
}
