package dev.vivarium.core.webhook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.Scheduler;
import dev.vivarium.core.egress.AddressBlock;
import dev.vivarium.core.egress.EgressConfig;
import dev.vivarium.core.egress.PublicConnector;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.log.EventReader;
import dev.vivarium.core.log.EventTypes;
import dev.vivarium.core.log.Query;
import dev.vivarium.core.run.Outbox;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.DutyLease;
import dev.vivarium.json.EventBodyJson;
import dev.vivarium.model.AlertEvent;
import dev.vivarium.model.Event;
import dev.vivarium.model.LogId;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.NewWebhook;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.TaskLog;
import dev.vivarium.model.UserId;
import dev.vivarium.model.Webhook;
import dev.vivarium.model.WebhookDelivery;
import dev.vivarium.model.WebhookDelivery.Status;
import java.net.InetAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Contract of webhooks on every database, with real receivers.
@Timeout(120)
abstract class WebhooksContract {
    private static final UserId ANN = new UserId("ann");
    private static final LogId LOG = new TaskLog(ANN);
    private static final String SECRET = "a secret of the test";
    private static final Duration SOON = Duration.ofMinutes(1);
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private final AtomicReference<Instant> time = new AtomicReference<>(Instant.parse("2026-01-01T10:00:00Z"));
    private final Receiver receiver = new Receiver();
    private final Content content = new Content();
    private Scheduler scheduler;
    private Db db;
    private EventLog log;
    private PublicConnector connector;
    private Webhooks webhooks;
    private WebhookSender sender;
    private EventReader reader;

    /// Returns the database of this test, the same one each time.
    abstract Db openDb();

    @BeforeEach
    void open() {
        open(new WebhookSender.Rules(3, TIMEOUT, Duration.ofDays(7)));
    }

    private void open(WebhookSender.Rules rules) {
        scheduler = new Scheduler(time::get);
        db = openDb();
        log = new EventLog(db, time::get, new EventBodyJson());
        connector = connector(List.of(AddressBlock.of("127.0.0.0/8")));
        webhooks = new Webhooks(db, time::get, content, connector);
        sender = new WebhookSender(
                new WebhookSender.Parts(db, webhooks, content, connector),
                new DutyLease(db, "webhooks", "one", Duration.ofSeconds(30), time::get),
                new Outbox(db, log, time::get),
                rules,
                scheduler);
        reader = log.reader("webhooks", webhooks.handler());
    }

    @AfterEach
    void close() {
        sender.close();
        connector.close();
        log.close();
        db.close();
        scheduler.close();
        receiver.close();
    }

    private static PublicConnector connector(List<AddressBlock> added) {
        return new PublicConnector(EgressConfig.ordinary().withPrivateAddresses(added), "the-setting");
    }

    /// Sends all events of the types of a webhook, unless the owner may not see them.
    private static final class Content implements WebhookContent {
        private volatile boolean isVisible = true;

        @Override
        public EventTypes types(Webhook webhook) {
            var types = webhook.wanted().eventTypes();
            return types.isEmpty() ? EventTypes.ALL : new EventTypes(Set.of(), Set.copyOf(types));
        }

        @Override
        public Optional<String> body(Webhook webhook, Event event) {
            return types(webhook).includes(event.type()) ? Optional.of(form(webhook, event)) : Optional.empty();
        }

        @Override
        public String form(Webhook webhook, Event event) {
            return "{\"type\":\"" + event.type() + "\"}";
        }

        @Override
        public boolean maySee(Webhook webhook, LogId logId) {
            return isVisible;
        }
    }

    private Webhook add(String path, String... types) {
        // Without `webhook.`, because a dead delivery appends an event.
        List<String> wantedTypes = types.length == 0 ? List.of("task.") : List.of(types);
        var wanted = new NewWebhook(URI.create(receiver.url(path)), wantedTypes, NewWebhook.Format.JSON);
        return webhooks.add(Optional.of(ANN), wanted, SECRET);
    }

    private void append(String type) {
        log.append(LOG, NewEvent.of(type, "{}", NewEvent.OURS));
        reader.await(LOG);
    }

    private void pass(Duration duration) {
        time.updateAndGet(now -> now.plus(duration));
    }

    private List<WebhookDelivery> deliveries(Webhook webhook) {
        return webhooks.deliveries(webhook, new DeliveryFilter(Optional.empty(), Optional.empty(), 100));
    }

    private void awaitAttempts(Webhook webhook, int attempts) {
        await().until(() -> deliveries(webhook).getFirst().attempts() == attempts);
    }

    @Test
    void aReceiverGetsEachEventOnceWithASignature() {
        Webhook webhook = add("/hook?a=b", "task.");
        append("task.completed");
        append("agent.note");

        sender.step();

        awaitAttempts(webhook, 1);
        assertThat(deliveries(webhook)).hasSize(1);
        WebhookDelivery delivery = deliveries(webhook).getFirst();
        assertThat(delivery.status()).isEqualTo(Status.DELIVERED);
        assertThat(delivery.responseStatus()).contains(204);
        sender.step();
        assertThat(receiver.received()).hasSize(1);
        var request = receiver.received().getFirst();
        assertThat(request.line()).isEqualTo("POST /hook?a=b HTTP/1.1");
        assertThat(request.text()).isEqualTo("{\"type\":\"task.completed\"}");
        assertThat(request.headers())
                .containsEntry("vivarium-delivery", delivery.id().value())
                .containsEntry("vivarium-event", "task.completed")
                .containsEntry("vivarium-signature", Signature.of(SECRET, time.get(), request.body()));
    }

    @Test
    void theSignatureIsAnHmacOfTheTimeAndTheBody() {
        assertThat(Signature.of("secret", Instant.ofEpochSecond(1), "{}".getBytes(StandardCharsets.UTF_8)))
                .isEqualTo("t=1,v1=" + HMAC);
    }

    /// `printf '1.{}' | openssl dgst -sha256 -hmac secret`
    private static final String HMAC = "1122767b193110cfec322b6f199b599edbf608ed087f2d27afb0b97d99523908";

    @Test
    void aFailedDeliveryIsRetriedWithGrowingPausesThenDeadAndReplayable() {
        Webhook webhook = add("/", "task.");
        receiver.respond("HTTP/1.1 500 Broken\r\n\r\n");
        append("task.failed");
        for (int attempt = 1; attempt <= 3; attempt++) {
            sender.step();
            awaitAttempts(webhook, attempt);
            pass(SOON);
        }

        WebhookDelivery dead = deliveries(webhook).getFirst();
        assertThat(dead.status()).isEqualTo(Status.DEAD);
        assertThat(dead.error()).contains("the receiver answered with status 500");
        await().until(() -> events().stream().anyMatch(AlertEvent.WebhookDead.class::isInstance));
        assertThat(events())
                .filteredOn(AlertEvent.WebhookDead.class::isInstance)
                .singleElement()
                .isEqualTo(new AlertEvent.WebhookDead(
                        webhook.id(), dead.id(), "task.failed", 3, "the receiver answered with status 500"));

        receiver.respond("HTTP/1.1 200 OK\r\n\r\n");
        webhooks.replay(webhook, dead.id().value());
        sender.step();
        await().until(() -> deliveries(webhook).getFirst().status() == Status.DELIVERED);
        assertThatThrownBy(() -> webhooks.replay(webhook, "whdaaaaaaaaaaaaaaaaaaaa"))
                .hasMessageContaining("there is no delivery");
    }

    @Test
    void aTestIsSentWhateverTheTypesAreAndCanBeRepeated() {
        Webhook webhook = add("/", "task.");

        WebhookDelivery first = webhooks.test(webhook);
        WebhookDelivery second = webhooks.test(webhook);
        assertThat(first.status()).isEqualTo(Status.PENDING);
        sender.step();

        await().until(() -> deliveries(webhook).stream().allMatch(one -> one.status() == Status.DELIVERED));
        assertThat(deliveries(webhook))
                .extracting(WebhookDelivery::id)
                .containsExactlyInAnyOrder(first.id(), second.id());
        assertThat(receiver.received()).allMatch(one -> one.text().equals("{\"type\":\"webhook.test\"}"));
        assertThat(events()).as("events of the log").isEmpty();
    }

    private List<Object> events() {
        return log.read(LOG, Query.after(0, 100)).stream()
                .map(event -> (Object) log.codec().decode(event))
                .toList();
    }

    @Test
    void pausesDoubleUpToAnHourAndAreRandom() {
        assertThat(sender.pause(1)).isBetween(Duration.ofMillis(2500), Duration.ofSeconds(5));
        assertThat(sender.pause(4)).isBetween(Duration.ofSeconds(20), Duration.ofSeconds(40));
        assertThat(sender.pause(100)).isBetween(Duration.ofMinutes(30), Duration.ofHours(1));
    }

    @Test
    void aReceiverThatHangsDoesNotDelayAnother() {
        try (var slow = new Receiver()) {
            slow.hang();
            Webhook hanging = webhooks.add(
                    Optional.of(ANN),
                    new NewWebhook(URI.create(slow.url("/")), List.of(), NewWebhook.Format.JSON),
                    SECRET);
            Webhook quick = add("/");
            for (int i = 0; i < 5; i++) {
                append("task.ready");
            }
            await().until(() -> {
                sender.step();
                return deliveries(quick).stream().allMatch(one -> one.status() == Status.DELIVERED);
            });
            assertThat(receiver.received()).hasSize(5);
            assertThat(slow.received()).as("requests at a time").hasSizeLessThanOrEqualTo(2);
            assertThat(deliveries(hanging)).allMatch(one -> one.status() == Status.PENDING);
        }
    }

    @Test
    void aRequestEndsAtItsDeadline() {
        sender.close();
        connector.close();
        log.close();
        db.close();
        scheduler.close();
        open(new WebhookSender.Rules(1, Duration.ofMillis(200), Duration.ofDays(7)));
        receiver.hang();
        Webhook webhook = add("/");
        append("task.ready");

        sender.step();

        awaitAttempts(webhook, 1);
        assertThat(deliveries(webhook).getFirst().error()).contains("the receiver did not answer in time");
    }

    @Test
    void redirectsAreNotFollowed() {
        Webhook webhook = add("/");
        receiver.respond("HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\n\r\n");
        append("task.ready");

        sender.step();

        awaitAttempts(webhook, 1);
        assertThat(deliveries(webhook).getFirst().error().orElseThrow()).contains("redirects are not followed");
        assertThat(receiver.received()).hasSize(1);
    }

    @Test
    void interimAndEndlessResponsesAreBounded() {
        Webhook webhook = add("/");
        receiver.respond("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 202 Accepted\r\n\r\n" + "x".repeat(100_000));
        append("task.ready");
        sender.step();
        await().until(() -> deliveries(webhook).getFirst().status() == Status.DELIVERED);

        pass(SOON);
        receiver.respond("HTTP/1.1 100 " + "x".repeat(100_000));
        append("task.ready");
        sender.step();
        await().until(() -> deliveries(webhook).getFirst().error().isPresent());
    }

    @Test
    void privateAddressesAreRefusedAtTheCreationAndAtEachRequest() {
        for (String url : List.of(
                receiver.url("/"),
                "http://169.254.169.254/latest",
                "http://10.1.2.3/",
                "http://192.168.0.1:8080/",
                "http://[::1]/",
                "http://[fd00:ec2::254]/",
                "http://2130706433/",
                "http://[::ffff:127.0.0.1]/")) {
            try (var strict = connector(List.of())) {
                var guarded = new Webhooks(db, time::get, content, strict);
                var wanted = new NewWebhook(URI.create(url), List.of(), NewWebhook.Format.JSON);
                assertThatThrownBy(() -> guarded.add(Optional.of(ANN), wanted, SECRET))
                        .as(url)
                        .isInstanceOf(SandboxException.class)
                        .hasMessageContaining("not public");
            }
        }
        Webhook webhook = add("/");
        append("task.ready");
        sender.close();
        try (var strict = connector(List.of());
                var guarded = new WebhookSender(
                        new WebhookSender.Parts(db, webhooks, content, strict),
                        new DutyLease(db, "webhooks", "one", Duration.ofSeconds(30), time::get),
                        new Outbox(db, log, time::get),
                        new WebhookSender.Rules(1, TIMEOUT, Duration.ofDays(7)),
                        scheduler)) {
            guarded.step();
            awaitAttempts(webhook, 1);
        }
        assertThat(deliveries(webhook).getFirst().error().orElseThrow()).contains("not public", "the-setting");
        assertThat(receiver.received()).isEmpty();
    }

    @Test
    void aNameThatChangesItsAddressLeadsNowhere() throws Exception {
        var answers = new AtomicReference<>(InetAddress.ofLiteral("93.184.215.14"));
        var config = EgressConfig.ordinary().withResolver(_ -> List.of(answers.get()));
        try (var strict = new PublicConnector(config, "the-setting")) {
            var wanted = new NewWebhook(URI.create("http://rebind.test/"), List.of(), NewWebhook.Format.JSON);
            strict.check(wanted.host(), wanted.port());
            answers.set(InetAddress.ofLiteral("127.0.0.1"));
            assertThatThrownBy(() -> strict.connect(wanted.host(), wanted.port()))
                    .hasMessageContaining("not public");
        }
    }

    @Test
    void anOwnerWhoMayNoLongerSeeTheEventGetsNothing() {
        Webhook webhook = add("/");
        append("task.ready");
        content.isVisible = false;

        sender.step();

        awaitAttempts(webhook, 1);
        assertThat(deliveries(webhook).getFirst().error().orElseThrow()).contains("may no longer see");
        assertThat(receiver.received()).isEmpty();
    }

    @Test
    void aNewServerSendsWhatTheOldOneDidNot() {
        Webhook webhook = add("/");
        append("task.ready");
        sender.close();
        connector.close();
        log.close();
        db.close();
        scheduler.close();
        open();

        assertThat(webhooks.list(Optional.of(ANN))).containsExactly(webhook);
        sender.step();

        await().until(() -> deliveries(webhook).getFirst().status() == Status.DELIVERED);
        assertThat(receiver.received()).hasSize(1);
    }

    @Test
    void anotherServerDoesNotSend() {
        Webhook webhook = add("/");
        append("task.ready");
        assertThat(new DutyLease(db, "webhooks", "two", Duration.ofSeconds(30), time::get).hold())
                .isTrue();

        sender.step();

        assertThat(deliveries(webhook).getFirst().attempts()).isZero();
    }

    @Test
    void theSecretIsEncryptedInTheStore() {
        Webhook webhook = add("/");

        String stored = db.read(sql -> WebhookRows.secret(sql, webhook.id())).orElseThrow();
        assertThat(stored).startsWith("sealed:").doesNotContain(SECRET);
        assertThat(webhooks.secret(webhook.id())).contains(SECRET);
    }

    @Test
    void aWebhookGetsNoOlderEventsAndNoneAfterItsDeletion() {
        append("task.ready");
        pass(SOON);
        Webhook webhook = add("/");
        append("task.running");
        assertThat(deliveries(webhook)).extracting(WebhookDelivery::eventType).containsExactly("task.running");

        webhooks.delete(webhook);
        append("task.completed");

        assertThat(deliveries(webhook)).isEmpty();
        assertThatThrownBy(() -> webhooks.require(webhook.id().value(), _ -> true))
                .hasMessageContaining("there is no webhook");
    }

    @Test
    void aClockThatIsSetBackDoesNotStopDeliveries() {
        Webhook webhook = add("/");
        receiver.respond("HTTP/1.1 503 Later\r\n\r\n");
        append("task.ready");
        sender.step();
        awaitAttempts(webhook, 1);
        receiver.respond("HTTP/1.1 200 OK\r\n\r\n");

        pass(Duration.ofDays(-365));
        db.write(sql -> {
            DeliveryRows.limitNextAttempt(sql, time.get(), Duration.ofHours(1));
            return sql;
        });

        await().until(() -> {
            sender.step();
            return deliveries(webhook).getFirst().status() == Status.DELIVERED;
        });
    }

    @Test
    void invalidRequestsAreRejected() {
        for (String url : List.of(
                "ftp://example.com/",
                "https://user:password@example.com/",
                "https://example.com/#part",
                "/relative",
                "https://",
                "http://0x7f.1/",
                "mailto:someone@example.com")) {
            assertThatThrownBy(() -> new NewWebhook(NewWebhook.url(url), List.of(), NewWebhook.Format.JSON))
                    .as(url)
                    .isInstanceOf(SandboxException.class);
        }
        assertThatThrownBy(() -> webhooks.add(
                        Optional.of(ANN),
                        new NewWebhook(URI.create(receiver.url("/")), List.of(), NewWebhook.Format.JSON),
                        "short"))
                .hasMessageContaining("secret");
        for (int i = 0; i < 20; i++) {
            add("/" + i);
        }
        assertThatThrownBy(() -> add("/more")).hasMessageContaining("the maximum");
        assertThat(webhooks.list(Optional.empty())).hasSize(20);
    }
}
