package dev.vivarium.model;

import java.time.Instant;
import java.util.Optional;

/// Subscription of an HTTP receiver to events. Immutable.
///
/// @param user the owner, whose events the receiver gets; empty for the admin, who gets the events of all users
public record Webhook(WebhookId id, Optional<UserId> user, NewWebhook wanted, Instant createdAt) {}
