package dev.vivarium.core.webhook;

import dev.vivarium.core.CriticalThread;
import dev.vivarium.core.Scheduler;
import dev.vivarium.core.egress.PublicConnector;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.run.Outbox;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.DutyLease;
import dev.vivarium.model.AlertEvent;
import dev.vivarium.model.DeliveryId;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.Webhook;
import dev.vivarium.model.WebhookId;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Sends the deliveries that are due. Thread-safe.
///
/// One thread takes due deliveries from the store. Each request has a virtual thread and a deadline. A webhook has at
/// most [#PER_WEBHOOK] requests at a time, so that a receiver that does not answer delays only its own deliveries. The
/// outcome is stored after the response: after a crash the next server sends the delivery again. One server sends at a
/// time, by the lease `webhooks`.
public final class WebhookSender implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(WebhookSender.class);
    private static final Duration POLL = Duration.ofSeconds(5);
    private static final Duration SHORTEST_PAUSE = Duration.ofSeconds(5);
    private static final Duration LONGEST_PAUSE = Duration.ofHours(1);
    private static final Duration PRUNE_EVERY = Duration.ofMinutes(10);
    private static final int PER_WEBHOOK = 2;

    private final Db db;
    private final Webhooks webhooks;
    private final WebhookContent content;
    private final PublicConnector connector;
    private final DutyLease lease;
    private final Outbox outbox;
    private final Rules rules;
    private final InstantSource clock;
    private final Scheduler.Jobs jobs;
    private final SecureRandom random = new SecureRandom();
    private final Thread worker = CriticalThread.unstarted("webhooks", this::run);
    private final BlockingQueue<Boolean> wakeups = new ArrayBlockingQueue<>(1);
    private final ExecutorService requests = Executors.newThreadPerTaskExecutor(
            Thread.ofVirtual().name("webhook-", 0).factory());

    /// Deliveries whose request is under way, by webhook.
    private final Map<WebhookId, Set<DeliveryId>> underWay = new ConcurrentHashMap<>();

    private volatile boolean closed;

    /// Rules for deliveries.
    ///
    /// @param attempts maximum number of attempts
    /// @param timeout  deadline of one request
    /// @param keep     retention of deliveries that have ended
    public record Rules(int attempts, Duration timeout, Duration keep) {}

    /// Parts that send requests.
    public record Parts(Db db, Webhooks webhooks, WebhookContent content, PublicConnector connector) {}

    public WebhookSender(Parts parts, DutyLease lease, Outbox outbox, Rules rules, Scheduler scheduler) {
        this.db = parts.db;
        this.webhooks = parts.webhooks;
        this.content = parts.content;
        this.connector = parts.connector;
        this.lease = lease;
        this.outbox = outbox;
        this.rules = rules;
        this.clock = scheduler.clock();
        this.jobs = scheduler.jobs();
        webhooks.onDue(this::wake);
    }

    /// Starts the reader, which the log closes, and the thread.
    public void start(EventLog log) {
        log.reader("webhooks", webhooks.handler());
        jobs.every(Duration.ZERO, PRUNE_EVERY, "deletion of webhook deliveries", this::prune);
        worker.start();
    }

    private void wake() {
        boolean _ = wakeups.offer(true);
    }

    private void prune() {
        Instant now = clock.instant();
        db.write(sql -> {
            DeliveryRows.limitNextAttempt(sql, now, LONGEST_PAUSE);
            return DeliveryRows.prune(sql, now.minus(rules.keep));
        });
        wake();
    }

    private void run() {
        Duration pause = Duration.ZERO;
        while (!closed) {
            try {
                var _ = wakeups.poll(pause.toMillis(), TimeUnit.MILLISECONDS);
                pause = closed ? POLL : step();
            } catch (InterruptedException e) {
                LOG.debug("the sender of webhooks is closing");
            } catch (SandboxException | DutyLease.Superseded e) {
                LOG.warn("Webhooks are sent later: {}", e.getMessage());
                pause = POLL;
            }
        }
    }

    /// Starts the requests that are due. Returns the time until the next one.
    Duration step() {
        if (!lease.hold()) {
            return POLL;
        }
        Instant now = clock.instant();
        Duration pause = POLL;
        for (var next : db.read(DeliveryRows::next).entrySet()) {
            Duration wait = Duration.between(now, next.getValue());
            if (wait.isPositive()) {
                pause = wait.compareTo(pause) < 0 ? wait : pause;
            } else {
                webhooks.find(next.getKey()).ifPresent(webhook -> send(webhook, now));
            }
        }
        return pause;
    }

    private void send(Webhook webhook, Instant now) {
        Set<DeliveryId> busy = underWay.computeIfAbsent(webhook.id(), _ -> ConcurrentHashMap.newKeySet());
        List<Delivery> due = db.read(sql -> DeliveryRows.due(sql, webhook.id(), now, 2 * PER_WEBHOOK));
        for (Delivery delivery : due) {
            if (busy.size() < PER_WEBHOOK && busy.add(delivery.id())) {
                requests.execute(() -> {
                    try {
                        attempt(webhook, delivery);
                    } finally {
                        busy.remove(delivery.id());
                        wake();
                    }
                });
            }
        }
    }

    private void attempt(Webhook webhook, Delivery delivery) {
        try {
            finish(webhook, delivery, post(webhook, delivery));
        } catch (SandboxException | DutyLease.Superseded e) {
            LOG.warn("Delivery {} is sent again: {}", delivery.id(), e.getMessage());
        }
    }

    private PostResult post(Webhook webhook, Delivery delivery) {
        if (!content.maySee(webhook, delivery.logId())) {
            return PostResult.failed("the owner of the webhook may no longer see this event");
        }
        Optional<String> secret = webhooks.secret(webhook.id());
        if (secret.isEmpty()) {
            return PostResult.failed("the secret cannot be decrypted; delete the webhook and create it again");
        }
        byte[] body = delivery.body().getBytes(StandardCharsets.UTF_8);
        var headers = new LinkedHashMap<String, String>();
        headers.put("User-Agent", "Vivarium");
        headers.put("Vivarium-Webhook", webhook.id().value());
        headers.put("Vivarium-Delivery", delivery.id().value());
        headers.put("Vivarium-Event", delivery.eventType());
        headers.put(Signature.HEADER, Signature.of(secret.get(), clock.instant(), body));
        var request = new WebhookRequest(webhook.wanted(), headers, body);
        jobs.once(rules.timeout, "deadline of a webhook", request::abort);
        return request.send(connector);
    }

    /// Stores the outcome. The last failed attempt appends an event, unless the delivery is about such an event:
    /// otherwise two broken receivers would report each other for ever.
    private void finish(Webhook webhook, Delivery delivery, PostResult result) {
        Instant now = clock.instant();
        int attempts = delivery.attempts() + 1;
        Optional<Instant> next = attempts < rules.attempts ? Optional.of(now.plus(pause(attempts))) : Optional.empty();
        boolean isDead =
                !result.isDelivered() && next.isEmpty() && !delivery.eventType().equals("webhook.dead");
        Optional<Outbox.PendingEvent> event = lease.write(sql -> {
            boolean isStored = DeliveryRows.attempted(sql, delivery, result, now, next);
            return isStored && isDead
                    ? Optional.of(outbox.put(sql, Webhooks.logOf(webhook), dead(delivery, attempts, result, now)))
                    : Optional.empty();
        });
        event.ifPresent(outbox::send);
    }

    private static NewEvent dead(Delivery delivery, int attempts, PostResult result, Instant now) {
        var body = new AlertEvent.WebhookDead(
                delivery.webhook(),
                delivery.id(),
                delivery.eventType(),
                attempts,
                result.error().orElse(""));
        // A replayed delivery can die again.
        String id = NewEvent.OUR_IDS + delivery.id() + ".dead." + now.toEpochMilli();
        return new NewEvent(Optional.of(id), body, NewEvent.OURS);
    }

    /// Returns the pause after a failed attempt. It doubles each time, and up to half of it is random.
    Duration pause(int attempts) {
        long max = SHORTEST_PAUSE.multipliedBy(1L << Math.min(attempts - 1, 30)).toMillis();
        long bounded = Math.min(max, LONGEST_PAUSE.toMillis());
        return Duration.ofMillis(bounded - (long) (random.nextDouble() * bounded / 2));
    }

    /// Stops the thread. Requests that are under way are sent again by the next server. Idempotent.
    @Override
    public void close() {
        closed = true;
        worker.interrupt();
        jobs.close();
        requests.shutdownNow();
        try {
            if (worker.isAlive()) {
                worker.join(POLL);
            }
            boolean _ = requests.awaitTermination(POLL.toSeconds(), TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
