package dev.vivarium.server.operation;

import dev.vivarium.core.access.Principal;
import dev.vivarium.core.webhook.DeliveryFilter;
import dev.vivarium.core.webhook.Webhooks;
import dev.vivarium.model.NewWebhook;
import dev.vivarium.model.Webhook;
import dev.vivarium.model.WebhookDelivery;
import java.util.List;

/// Operations on webhooks. A user sees and changes only own webhooks; those of others count as unknown. Thread-safe.
public final class UserWebhooks {
    private final Webhooks webhooks;

    public UserWebhooks(Webhooks webhooks) {
        this.webhooks = webhooks;
    }

    /// Adds a webhook of the caller. A webhook of the admin gets the events of all users.
    public Webhook add(Principal caller, NewWebhook wanted, String secret) {
        return webhooks.add(caller.user(), wanted, secret);
    }

    /// Returns the webhooks of the caller, or of all users for the admin.
    public List<Webhook> list(Principal caller) {
        return webhooks.list(caller.user());
    }

    public Webhook get(Principal caller, String id) {
        return webhooks.require(
                id, webhook -> caller.user().isEmpty() || webhook.user().equals(caller.user()));
    }

    public void delete(Principal caller, String id) {
        webhooks.delete(get(caller, id));
    }

    public List<WebhookDelivery> deliveries(Principal caller, String id, DeliveryFilter filter) {
        return webhooks.deliveries(get(caller, id), filter);
    }

    public WebhookDelivery test(Principal caller, String id) {
        return webhooks.test(get(caller, id));
    }

    public WebhookDelivery replay(Principal caller, String id, String delivery) {
        return webhooks.replay(get(caller, id), delivery);
    }
}
