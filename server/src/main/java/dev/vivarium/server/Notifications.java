package dev.vivarium.server;

import dev.vivarium.core.Scheduler;
import dev.vivarium.core.access.Audit;
import dev.vivarium.core.egress.AddressBlock;
import dev.vivarium.core.egress.PublicConnector;
import dev.vivarium.core.guard.anomaly.Alerts;
import dev.vivarium.core.guard.anomaly.Anomalies;
import dev.vivarium.core.guard.anomaly.HealthSampler;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.DutyLease;
import dev.vivarium.core.webhook.WebhookSender;
import dev.vivarium.core.webhook.Webhooks;
import dev.vivarium.json.AlertJson;
import dev.vivarium.server.feed.Feed;
import dev.vivarium.server.feed.WebhookEvents;
import dev.vivarium.server.settings.Config;
import dev.vivarium.server.settings.NotificationConfig;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/// Webhooks, alerts, anomalies and the health of the queue. Thread-safe.
record Notifications(
        Webhooks webhooks,
        WebhookSender sender,
        Alerts alerts,
        Anomalies anomalies,
        HealthSampler health,
        PublicConnector connector)
        implements AutoCloseable {
    private static final Duration LEASE = Duration.ofSeconds(30);

    /// The job runs every minute.
    private static final Duration ANOMALIES_LEASE = Duration.ofMinutes(3);

    private static final List<AddressBlock> EVERYWHERE =
            Stream.of("0.0.0.0/0", "::/0").map(AddressBlock::of).toList();

    static Notifications open(Config config, Db db, AgentRuns runs, Feed feed, Scheduler scheduler) {
        NotificationConfig settings = config.runs().notifications();
        var connector = connector(config);
        var content = new WebhookEvents(feed);
        var webhooks = new Webhooks(db, scheduler.clock(), content, connector);
        var sender = new WebhookSender(
                new WebhookSender.Parts(db, webhooks, content, connector),
                new DutyLease(db, "webhooks", config.workerId(), LEASE, scheduler.clock()),
                runs.outbox(),
                new WebhookSender.Rules(
                        settings.attempts(),
                        settings.webhookTimeout(),
                        config.log().retention().age()),
                scheduler);
        return new Notifications(
                webhooks,
                sender,
                new Alerts(db, AlertJson.TYPES, AlertJson::notice, scheduler),
                anomalies(config, db, runs, scheduler),
                new HealthSampler(db, settings.healthEvery(), scheduler),
                connector);
    }

    private static Anomalies anomalies(Config config, Db db, AgentRuns runs, Scheduler scheduler) {
        var lease = new DutyLease(db, "anomalies", config.workerId(), ANOMALIES_LEASE, scheduler.clock());
        return new Anomalies(db, runs.runs(), runs.outbox(), lease, scheduler);
    }

    private static PublicConnector connector(Config config) {
        List<AddressBlock> added = switch (config.runs().notifications().receivers()) {
            case PUBLIC -> List.of();
            case ALL -> EVERYWHERE;
        };
        return new PublicConnector(config.egress().withPrivateAddresses(added), NotificationConfig.ALLOW_PRIVATE);
    }

    /// Starts the readers, which the log closes, and the sender.
    void start(EventLog log, Audit audit) {
        alerts.start(log);
        anomalies.start(log, audit);
        sender.start(log);
    }

    /// Idempotent.
    @Override
    public void close() {
        sender.close();
        anomalies.close();
        alerts.close();
        health.close();
        connector.close();
    }
}
