/// Webhooks: a durable reader stores deliveries of events, and a sender posts them to their receivers.
@NullMarked
package dev.vivarium.core.webhook;

import org.jspecify.annotations.NullMarked;
