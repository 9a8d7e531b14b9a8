package dev.vivarium.model;

/// Failures of webhooks and alerts. Immutable.
public sealed interface NotificationFailure extends Failure {
    /// The caller has no webhook with that id.
    record NoSuchWebhook(String id) implements NotificationFailure {
        @Override
        public String sentence() {
            return "there is no webhook '" + id + "'; GET /api/v1/webhooks lists your webhooks (viv webhook ls)";
        }
    }

    /// The webhook has no delivery with that id.
    record NoSuchDelivery(String id) implements NotificationFailure {
        @Override
        public String sentence() {
            return "there is no delivery '" + id + "'; GET /api/v1/webhooks/WEBHOOK/deliveries lists the deliveries";
        }
    }

    /// The caller has the maximum number of webhooks.
    record TooManyWebhooks(int limit) implements NotificationFailure {
        @Override
        public String sentence() {
            return "you have " + limit + " webhooks, the maximum; delete one first";
        }
    }

    /// The caller has no alert with that id.
    record NoSuchAlert(String id) implements NotificationFailure {
        @Override
        public String sentence() {
            return "there is no alert '" + id + "'; GET /api/v1/alerts lists your alerts (viv alerts)";
        }
    }
}
