package dev.vivarium.core.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.log.Query;
import dev.vivarium.core.store.Db;
import dev.vivarium.json.EventBodyJson;
import dev.vivarium.model.Event;
import dev.vivarium.model.Message;
import dev.vivarium.model.Message.Kind;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.NewMessage;
import dev.vivarium.model.SandboxId;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Contract of the inbox on every database.
abstract class InboxContract {
    private static final Duration TIMEOUT = Duration.ofMinutes(2);

    private final SandboxId sandbox = SandboxId.random(new Random(1));
    private final SandboxId other = SandboxId.random(new Random(2));
    private Db db;
    private EventLog log;
    private Inbox inbox;

    /// Returns the database of this test, the same one each time.
    abstract Db openDb();

    @BeforeEach
    void open() {
        db = openDb();
        log = new EventLog(db, InstantSource.system(), new EventBodyJson());
        inbox = new Inbox(db, log, InstantSource.system());
    }

    @AfterEach
    void close() {
        log.close();
        db.close();
    }

    @Test
    void undeliveredMessagesAreRedeliveredAfterACrash() throws Exception {
        post("arrives", Kind.USER_MESSAGE);
        inbox.delivered(sandbox, inbox.take(sandbox, Duration.ZERO));
        post("on its way", Kind.USER_MESSAGE);
        List<Message> taken = inbox.take(sandbox, Duration.ZERO);

        inbox = new Inbox(db, log, InstantSource.system());

        assertThat(inbox.take(sandbox, Duration.ZERO)).isEqualTo(taken);
    }

    @Test
    void messagesKeepTheirOrderAfterInterrupts() throws Exception {
        post("one", Kind.USER_MESSAGE);
        post("two", Kind.GUIDANCE);
        post("stop", Kind.INTERRUPT);
        assertThat(post("three", Kind.USER_MESSAGE).waiting()).isEqualTo(4);

        assertThat(take()).containsExactly("stop", "one", "two", "three");
        assertThat(take()).isEmpty();
        assertThat(inbox.waiting(sandbox)).isZero();
    }

    @Test
    void messagesArePagedAndLimitedExceptInterrupts() throws Exception {
        for (int i = 0; i < 1000; i++) {
            post("word " + i, Kind.USER_MESSAGE);
        }
        assertThatThrownBy(() -> post("one more", Kind.USER_MESSAGE))
                .hasMessageContaining("has not read 1000 messages");
        post("stop", Kind.INTERRUPT);

        List<Message> page = inbox.offering(sandbox).next(Duration.ZERO);
        assertThat(page).hasSize(100);
        assertThat(page.getFirst().content()).isEqualTo("stop");
        post("stop again", Kind.INTERRUPT);
        inbox.acknowledge(sandbox, page.stream().map(Message::id).toList());

        assertThat(inbox.waiting(sandbox)).isEqualTo(902);
        assertThat(take()).startsWith("stop again", "word 99").hasSize(100);
    }

    @Test
    void deliveryShowsMessagesOnceAndANewOneRepeatsUnacknowledged() throws Exception {
        for (int i = 0; i < 150; i++) {
            post("word " + i, Kind.USER_MESSAGE);
        }
        Delivery delivery = inbox.offering(sandbox);
        List<Message> first = show(delivery);
        List<Message> second = show(delivery);
        post("stop", Kind.INTERRUPT);

        assertThat(first).hasSize(100);
        assertThat(second).hasSize(50).doesNotContainAnyElementsOf(first);
        assertThat(show(delivery)).extracting(Message::content).containsExactly("stop");
        assertThat(show(delivery)).isEmpty();
        inbox.acknowledge(sandbox, first.stream().map(Message::id).toList());
        assertThat(show(delivery)).isEmpty();

        assertThat(show(inbox.offering(sandbox)))
                .extracting(Message::content)
                .startsWith("stop", "word 100")
                .hasSize(51);
    }

    @Test
    void unsentMessagesAreDeliveredAgain() throws Exception {
        post("one", Kind.USER_MESSAGE);
        post("two", Kind.USER_MESSAGE);
        Delivery shown = inbox.peeking(sandbox);
        shown.passed(shown.next(Duration.ZERO), 1);
        assertThat(shown.next(Duration.ZERO)).extracting(Message::content).containsExactly("two");

        Delivery taken = inbox.taking(sandbox);
        taken.passed(taken.next(Duration.ZERO), 1);
        assertThat(take()).containsExactly("two");
        assertThat(log.read(sandbox, new Query(0, Optional.empty(), Optional.of("user.message_delivered"), 10)))
                .hasSize(1);
    }

    @Test
    void messageGoesToReadersWithOrWithoutAcknowledgement() throws Exception {
        post("one", Kind.USER_MESSAGE);
        List<Message> offered = inbox.offering(sandbox).next(Duration.ZERO);
        assertThat(take()).isEmpty();
        assertThat(inbox.offering(sandbox).next(Duration.ZERO)).isEqualTo(offered);

        post("two", Kind.USER_MESSAGE);
        List<Message> taken = inbox.take(sandbox, Duration.ZERO);
        assertThat(taken).extracting(Message::content).containsExactly("two");
        inbox.putBack(sandbox, taken);
        assertThat(take()).containsExactly("two");
        assertThat(inbox.acknowledge(sandbox, List.of(offered.getFirst().id()))).isEqualTo(1);
        assertThat(inbox.waiting(sandbox)).isZero();
    }

    @Test
    void eachSandboxHasItsOwnMessages() throws Exception {
        post("mine", Kind.USER_MESSAGE);

        assertThat(inbox.take(other, Duration.ZERO)).isEmpty();
        assertThat(take()).containsExactly("mine");
    }

    @Test
    void messagesSurviveARestartAndAreDeliveredOnce() throws Exception {
        post("heard", Kind.USER_MESSAGE);
        inbox.delivered(sandbox, inbox.take(sandbox, Duration.ZERO));
        post("waiting", Kind.USER_MESSAGE);
        close();
        open();

        assertThat(take()).containsExactly("waiting");
    }

    @Test
    void waitingTakeReturnsANewMessage() throws Exception {
        try (var worker = Executors.newVirtualThreadPerTaskExecutor()) {
            var waiting = worker.submit(() -> inbox.take(sandbox, TIMEOUT));
            post("hello", Kind.USER_MESSAGE);

            assertThat(waiting.get()).extracting(Message::content).containsExactly("hello");
        }
    }

    @Test
    void concurrentTakesReceiveEachMessageOnce() throws Exception {
        var received = new ConcurrentLinkedQueue<String>();
        try (var workers = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 8; i++) {
                workers.submit(() -> {
                    while (received.size() < 200) {
                        inbox.take(sandbox, Duration.ofMillis(50)).forEach(message -> received.add(message.content()));
                    }
                    return null;
                });
            }
            IntStream.range(0, 200).forEach(i -> post("m" + i, Kind.USER_MESSAGE));
        }

        assertThat(received).hasSize(200).doesNotHaveDuplicates();
    }

    @Test
    void putBackMessagesKeepTheirOrder() throws Exception {
        post("one", Kind.USER_MESSAGE);
        List<Message> taken = inbox.take(sandbox, Duration.ZERO);
        post("two", Kind.USER_MESSAGE);

        inbox.putBack(sandbox, taken);

        assertThat(take()).containsExactly("one", "two");
    }

    @Test
    void postAndDeliveryAppendEvents() throws Exception {
        post("use the other API", Kind.GUIDANCE);
        inbox.delivered(sandbox, inbox.take(sandbox, Duration.ZERO));

        await().untilAsserted(() -> assertThat(log.read(sandbox, Query.after(0, 10)))
                .extracting(Event::type)
                .containsExactly("user.guidance", "user.message_delivered"));
        assertThat(log.read(sandbox, Query.after(0, 10)).getLast().data()).contains("latency_ms");
    }

    @Test
    void repeatedDeliveryAppendsOneEvent() throws Exception {
        post("hello", Kind.USER_MESSAGE);
        List<Message> taken = inbox.take(sandbox, Duration.ZERO);
        inbox.delivered(sandbox, taken);
        // The event was stored, and the row was not updated.
        db.write(sql -> sql.update("update sandbox_messages set delivered_at = null"));
        close();
        open();

        inbox.delivered(sandbox, inbox.take(sandbox, Duration.ZERO));

        assertThat(log.read(sandbox, Query.after(0, 10)))
                .extracting(Event::type)
                .containsExactly("user.message", "user.message_delivered");
    }

    @Test
    void messageIsNotStoredIfTheEventCannotBeAppended() throws Exception {
        log.close();

        assertThatThrownBy(() -> post("hello", Kind.USER_MESSAGE)).hasMessageContaining("log is closed");
        close();
        open();
        assertThat(take()).isEmpty();
    }

    @Test
    void messageWithAnExistingEventIdIsPostedOnce() throws Exception {
        var message = new NewMessage("hello", Kind.GUIDANCE, Message.Mode.NEXT_TURN, "user");
        var event = new NewEvent(Optional.of("mine"), "user.guidance", "{}", "user");
        assertThat(inbox.post(sandbox, message, event).isNew()).isTrue();
        assertThat(inbox.post(sandbox, message, event).isNew()).isFalse();

        assertThat(inbox.take(sandbox, Duration.ZERO))
                .extracting(Message::content, Message::mode)
                .containsExactly(tuple("hello", Message.Mode.NEXT_TURN));
        inbox.post(sandbox, message, event);
        assertThat(take()).isEmpty();
    }

    @Test
    void controlCharactersAreRemovedAndEmptyMessagesRejected() throws Exception {
        post("a\u001b[31mb\u0000\nc\td\u009b", Kind.USER_MESSAGE);

        assertThat(take()).containsExactly("a[31mb\nc\td");
        assertThatThrownBy(() -> post("\u0000 \n", Kind.USER_MESSAGE)).hasMessageContaining("content");
        assertThatThrownBy(() -> post("x".repeat(10 * 1024 + 1), Kind.USER_MESSAGE))
                .hasMessageContaining("10240");
    }

    private Inbox.Queued post(String content, Kind kind) {
        return inbox.post(sandbox, new NewMessage(content, kind, "user"));
    }

    private static List<Message> show(Delivery delivery) throws InterruptedException {
        List<Message> page = delivery.next(Duration.ZERO);
        delivery.passed(page, page.size());
        return page;
    }

    private List<String> take() throws InterruptedException {
        return inbox.take(sandbox, Duration.ZERO).stream().map(Message::content).toList();
    }
}
