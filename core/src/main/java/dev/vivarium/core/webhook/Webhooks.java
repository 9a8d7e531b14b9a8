package dev.vivarium.core.webhook;

import dev.vivarium.core.access.Principal;
import dev.vivarium.core.egress.PublicConnector;
import dev.vivarium.core.log.EventReader;
import dev.vivarium.core.log.EventTypes;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.SealedEnv;
import dev.vivarium.core.store.Sql;
import dev.vivarium.model.DeliveryId;
import dev.vivarium.model.Event;
import dev.vivarium.model.Failure;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.NewWebhook;
import dev.vivarium.model.NotificationFailure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.TaskLog;
import dev.vivarium.model.UserId;
import dev.vivarium.model.Webhook;
import dev.vivarium.model.WebhookDelivery;
import dev.vivarium.model.WebhookId;
import java.io.IOException;
import java.security.SecureRandom;
import java.sql.SQLException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;

/// Webhooks and their deliveries. Thread-safe.
///
/// A durable reader of all logs stores a delivery for each event and webhook, in the transaction of its cursor. A
/// [WebhookSender] sends them.
public final class Webhooks {
    private static final int MAX_PER_USER = 20;
    private static final int MAX_PENDING = 10_000;
    private static final int MIN_SECRET = 8;
    private static final int MAX_SECRET = 256;
    private static final String SECRET = "secret";

    /// Type of the event of a test. No log contains such an event.
    private static final String TEST = "webhook.test";

    private final Db db;
    private final SealedEnv sealed;
    private final InstantSource clock;
    private final WebhookContent content;
    private final PublicConnector connector;
    private final SecureRandom random = new SecureRandom();

    /// All webhooks. A new one is here before its row exists, so that the reader misses no event after the
    /// creation.
    private final Map<WebhookId, Webhook> all = new ConcurrentHashMap<>();

    private volatile EventTypes types = EventTypes.NONE;
    private volatile Runnable onDue = () -> {};

    public Webhooks(Db db, InstantSource clock, WebhookContent content, PublicConnector connector) {
        this.db = db;
        this.sealed = SealedEnv.of(db);
        this.clock = clock;
        this.content = content;
        this.connector = connector;
        db.read(WebhookRows::all).forEach(webhook -> all.put(webhook.id(), webhook));
        select();
    }

    /// Calls `listener` when deliveries may be due.
    void onDue(Runnable listener) {
        onDue = listener;
    }

    private synchronized void select() {
        types = EventTypes.union(all.values().stream().map(content::types).toList());
    }

    /// Adds a webhook. Fails with `InvalidRequest` if the address of the receiver is not public, unless the
    /// operator permits it.
    ///
    /// @param owner empty for the admin
    public Webhook add(Optional<UserId> owner, NewWebhook wanted, String secret) {
        Failure.InvalidRequest.require(
                secret.length() >= MIN_SECRET && secret.length() <= MAX_SECRET,
                SECRET,
                "must be " + MIN_SECRET + " to " + MAX_SECRET + " characters");
        var webhook = new Webhook(WebhookId.random(random), owner, wanted, now());
        var _ = content.types(webhook);
        requireAddress(wanted);
        all.put(webhook.id(), webhook);
        select();
        try {
            insert(webhook, sealed.seal(webhook.id().value(), Map.of(SECRET, secret)));
        } catch (RuntimeException e) {
            forget(webhook);
            throw e;
        }
        return webhook;
    }

    private void requireAddress(NewWebhook wanted) {
        try {
            connector.check(wanted.host(), wanted.port());
        } catch (IOException e) {
            throw new SandboxException(new Failure.InvalidRequest("url", "cannot be used: " + e.getMessage()), e);
        }
    }

    private void insert(Webhook webhook, String secret) {
        db.write(sql -> {
            if (WebhookRows.count(sql, webhook.user()) >= MAX_PER_USER) {
                throw new SandboxException(new NotificationFailure.TooManyWebhooks(MAX_PER_USER));
            }
            WebhookRows.insert(sql, webhook, secret);
            return webhook;
        });
    }

    private void forget(Webhook webhook) {
        all.remove(webhook.id());
        select();
    }

    /// Returns the webhooks of a user, or all of them, oldest first.
    public List<Webhook> list(Optional<UserId> user) {
        return all.values().stream()
                .filter(webhook -> user.isEmpty() || webhook.user().equals(user))
                .sorted(Comparator.comparing(Webhook::createdAt)
                        .thenComparing(webhook -> webhook.id().value()))
                .toList();
    }

    /// Returns the webhook with an id from a request, if it is one of `mine`. Fails with `no-such-webhook`.
    public Webhook require(String id, Predicate<Webhook> mine) {
        return Optional.of(id)
                .filter(WebhookId::isWellFormed)
                .flatMap(text -> find(new WebhookId(text)))
                .filter(mine)
                .orElseThrow(() -> new SandboxException(new NotificationFailure.NoSuchWebhook(shown(id))));
    }

    Optional<Webhook> find(WebhookId id) {
        return Optional.ofNullable(all.get(id));
    }

    /// Returns the secret of a webhook. Empty if it cannot be decrypted with the current master key.
    Optional<String> secret(WebhookId id) {
        return db.read(sql -> WebhookRows.secret(sql, id))
                .flatMap(text ->
                        Optional.ofNullable(sealed.open(id.value(), text).get(SECRET)));
    }

    /// Deletes a webhook with all its deliveries.
    public void delete(Webhook webhook) {
        db.write(sql -> {
            WebhookRows.delete(sql, webhook.id());
            return webhook;
        });
        forget(webhook);
    }

    public List<WebhookDelivery> deliveries(Webhook webhook, DeliveryFilter filter) {
        return db.read(sql -> DeliveryRows.list(sql, webhook.id(), filter));
    }

    /// Sends a delivery again, with all its attempts. Fails with `no-such-delivery`.
    public WebhookDelivery replay(Webhook webhook, String id) {
        var delivery = Optional.of(id)
                .filter(DeliveryId::isWellFormed)
                .map(DeliveryId::new)
                .flatMap(one -> db.write(sql -> DeliveryRows.replay(sql, webhook.id(), one, now())
                        ? DeliveryRows.find(sql, webhook.id(), one)
                        : Optional.<WebhookDelivery>empty()))
                .orElseThrow(() -> new SandboxException(new NotificationFailure.NoSuchDelivery(shown(id))));
        onDue.run();
        return delivery;
    }

    /// Sends an event of the type `webhook.test`, with all attempts of a delivery.
    public WebhookDelivery test(Webhook webhook) {
        var id = DeliveryId.random(random);
        var event = new Event(
                logOf(webhook),
                0,
                NewEvent.OUR_IDS + id + ".test",
                TEST,
                "{\"webhook_id\":\"" + webhook.id() + "\"}",
                NewEvent.OURS,
                now(),
                Optional.empty());
        var delivery = new Delivery(id, webhook.id(), event.logId(), TEST, content.form(webhook, event), 0);
        var stored = db.write(sql -> {
            // Deliveries are unique by the number of their event. Numbers of events in logs are positive.
            store(sql, delivery, event.withSeq(-random.nextLong(1, Long.MAX_VALUE)));
            return DeliveryRows.find(sql, webhook.id(), id).orElseThrow();
        });
        onDue.run();
        return stored;
    }

    /// If too many deliveries wait, the delivery is stored as dead: a client can replay it.
    private void store(Sql sql, Delivery delivery, Event event) throws SQLException {
        boolean isFull = DeliveryRows.pending(sql, delivery.webhook()) >= MAX_PENDING;
        DeliveryRows.insert(sql, delivery, event, now());
        if (isFull) {
            var full = PostResult.failed("more than " + MAX_PENDING + " deliveries wait for this receiver");
            boolean _ = DeliveryRows.attempted(sql, delivery, full, now(), Optional.empty());
        }
    }

    /// Returns the log with the events about a webhook itself.
    static TaskLog logOf(Webhook webhook) {
        return new TaskLog(webhook.user().orElse(Principal.Admin.NAME));
    }

    private static String shown(String id) {
        return id.length() <= 64 ? id : id.substring(0, 64) + "…";
    }

    /// Returns the handler of the reader `webhooks`.
    public EventReader.Handler handler() {
        return new Handler();
    }

    private Instant now() {
        return Instant.ofEpochMilli(clock.millis());
    }

    /// Stores the deliveries of each event.
    private final class Handler implements EventReader.Handler {
        @Override
        public Set<String> types() {
            return types.whole();
        }

        @Override
        public EventTypes selection() {
            return types;
        }

        @Override
        public void handle(Sql sql, Event event) throws SQLException {
            for (Webhook webhook : all.values()) {
                // A new webhook gets no older events.
                Optional<String> body =
                        event.at().isBefore(webhook.createdAt()) ? Optional.empty() : content.body(webhook, event);
                if (body.isPresent()) {
                    var id = DeliveryId.random(random);
                    store(sql, new Delivery(id, webhook.id(), event.logId(), event.type(), body.get(), 0), event);
                }
            }
        }

        @Override
        public void committed(Event event) {
            onDue.run();
        }
    }
}
