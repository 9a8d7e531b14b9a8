package dev.vivarium.core.run;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.vivarium.core.Digests;
import dev.vivarium.core.log.AppendResult;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.sandbox.SandboxListener;
import dev.vivarium.core.store.Db;
import dev.vivarium.model.Message;
import dev.vivarium.model.MessageEvent;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.NewMessage;
import dev.vivarium.model.Run;
import dev.vivarium.model.RunFailure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/// Messages to the agents of all sandboxes. Thread-safe.
///
/// A message is durable before it is accepted, and is delivered once. Both are events. If the server crashes during a
/// delivery, the next server delivers the message again with the same id.
public final class Inbox implements SandboxListener, RunListener {
    private static final int ID_BYTES = 12;

    /// Messages in one delivery. A worker acknowledges all of them in one line.
    static final int AT_ONCE = 100;

    private static final int MOST = 1_000;

    /// Limit for interrupts, which are accepted when other messages are not.
    private static final int MAX_INTERRUPTED = MOST + 100;

    private final Db db;
    private final EventLog log;
    private final InstantSource clock;
    private final SecureRandom random = new SecureRandom();
    private volatile long usualLatency = 50;
    private final Map<SandboxId, MessageSignal> bells = new ConcurrentHashMap<>();
    private final MessageClaims claims = new MessageClaims();

    public Inbox(Db db, EventLog log, InstantSource clock) {
        this.db = db;
        this.log = log;
        this.clock = clock;
        db.write(MessageRows::putBackUndelivered);
    }

    /// An accepted message, and the number of waiting messages.
    public record Queued(Message message, int waiting) {}

    public Queued post(SandboxId sandbox, NewMessage said) {
        var message = message(newId(), said);
        var body = new MessageEvent.Posted(message.id(), message.kind(), message.content(), message.mode());
        var event = new NewEvent(Optional.of(eventId(message.id(), "said")), body, message.source());
        return post(sandbox, message, event).queued();
    }

    /// Posts a message that a client sent as an event with an id. A repeated event posts no second message.
    public AppendResult post(SandboxId sandbox, NewMessage said, NewEvent event) {
        String id = idOf(sandbox, event.id().orElseThrow());
        return post(sandbox, message(id, said), event).appended();
    }

    /// Returns the message id of an event, which is the same for the same event.
    public static String idOf(SandboxId sandbox, String event) {
        String text = sandbox + " " + event;
        return "msg" + Digests.sha256(text).substring(0, 2 * ID_BYTES);
    }

    private Message message(String id, NewMessage said) {
        return new Message(id, said.content(), said.kind(), said.mode(), said.source(), now());
    }

    private record Posted(AppendResult appended, Queued queued) {}

    /// The event comes first: if the server crashes before it stores the message, no caller got a response.
    private Posted post(SandboxId sandbox, Message message, NewEvent event) {
        requireRoom(sandbox, message.kind());
        AppendResult appended = log.append(sandbox, event);
        int waiting = db.write(sql -> {
            MessageRows.insert(sql, sandbox, message);
            return MessageRows.waiting(sql, sandbox);
        });
        messageSignal(sandbox).signal();
        return new Posted(appended, new Queued(message, waiting));
    }

    private void requireRoom(SandboxId sandbox, Message.Kind kind) {
        int waiting = waiting(sandbox);
        if (waiting >= (kind == Message.Kind.INTERRUPT ? MAX_INTERRUPTED : MOST)) {
            throw new SandboxException(new RunFailure.TooManyMessages(sandbox, waiting));
        }
    }

    private static String eventId(String message, String happening) {
        return NewEvent.OUR_IDS + message + "." + happening;
    }

    /// Returns a delivery that counts a message as delivered when it is sent.
    public Delivery taking(SandboxId sandbox) {
        return new AutoAckDelivery(this, sandbox);
    }

    /// Takes waiting messages, interrupts first. Waits at most `timeout` for the first. A caller that cannot
    /// deliver them calls [#putBack].
    public List<Message> take(SandboxId sandbox, Duration timeout) throws InterruptedException {
        return await(sandbox, timeout, () -> takeNow(sandbox));
    }

    List<Message> await(SandboxId sandbox, Duration timeout, Supplier<List<Message>> look) throws InterruptedException {
        long deadline = System.nanoTime() + timeout.toNanos();
        MessageSignal messageSignal = messageSignal(sandbox);
        while (true) {
            long seen = messageSignal.count();
            List<Message> messages = look.get();
            if (!messages.isEmpty() || !messageSignal.await(seen, deadline)) {
                return messages;
            }
        }
    }

    private List<Message> takeNow(SandboxId sandbox) {
        if (db.read(sql -> MessageRows.waiting(sql, sandbox)) == 0) {
            return List.of();
        }
        return db.write(sql -> {
            var messages = MessageRows.list(sql, sandbox, MAX_INTERRUPTED).stream()
                    .filter(message -> claims.take(sandbox, message.id()))
                    .limit(AT_ONCE)
                    .toList();
            MessageRows.taken(sql, messages, now());
            return messages;
        });
    }

    /// Returns a delivery whose messages wait until the worker acknowledges them, so that a crash of the worker
    /// loses none. Until then, readers without acknowledgement do not get them.
    public Delivery offering(SandboxId sandbox) {
        return new AcknowledgedDelivery(this, sandbox, message -> claims.offer(sandbox, message.id()));
    }

    /// Returns a delivery of waiting messages that does not take them.
    public Delivery peeking(SandboxId sandbox) {
        return new AcknowledgedDelivery(this, sandbox, _ -> true);
    }

    /// Makes the offered messages of a run that ends available to all readers.
    @Override
    public void ending(Run run) {
        claims.release(run.sandbox());
        messageSignal(run.sandbox()).signal();
    }

    /// Returns at most `max` waiting messages without taking them.
    List<Message> list(SandboxId sandbox, int max) {
        return db.read(sql -> MessageRows.list(sql, sandbox, max));
    }

    /// Marks messages as delivered. Ignores ids of messages that do not wait. Returns the number of the others.
    @CanIgnoreReturnValue
    public int acknowledge(SandboxId sandbox, Collection<String> ids) {
        List<Message> acknowledged = db.write(sql -> {
            var waiting = MessageRows.list(sql, sandbox, MAX_INTERRUPTED).stream()
                    .filter(message -> ids.contains(message.id()))
                    .toList();
            MessageRows.taken(sql, waiting, now());
            return waiting;
        });
        delivered(sandbox, acknowledged);
        return acknowledged.size();
    }

    /// Puts messages back in their old order.
    public void putBack(SandboxId sandbox, List<Message> messages) {
        db.write(sql -> {
            MessageRows.putBack(sql, messages);
            return messages.size();
        });
        messages.forEach(message -> claims.forget(sandbox, message.id()));
        messageSignal(sandbox).signal();
    }

    /// Marks messages as delivered. The events come first: after a crash in between, the message is delivered
    /// again, and the log stores its event once.
    public void delivered(SandboxId sandbox, List<Message> messages) {
        if (messages.isEmpty()) {
            return;
        }
        log.append(sandbox, messages.stream().map(this::deliveredEvent).toList());
        db.write(sql -> {
            MessageRows.delivered(sql, messages, now());
            return messages.size();
        });
        messages.forEach(message -> claims.forget(sandbox, message.id()));
    }

    private NewEvent deliveredEvent(Message message) {
        long latency = Duration.between(message.at(), now()).toMillis();
        usualLatency = (usualLatency * 7 + latency) / 8;
        var body = new MessageEvent.Delivered(message.id(), message.kind(), Duration.ofMillis(latency));
        return new NewEvent(Optional.of(eventId(message.id(), "delivered")), body, NewEvent.OURS);
    }

    /// Returns the moving average of the time from post to delivery.
    public Duration usualLatency() {
        return Duration.ofMillis(usualLatency);
    }

    public int waiting(SandboxId sandbox) {
        return db.read(sql -> MessageRows.waiting(sql, sandbox));
    }

    @Override
    public void ended(SandboxInfo sandbox) {
        claims.release(sandbox.id());
        MessageSignal messageSignal = bells.remove(sandbox.id());
        if (messageSignal != null) {
            messageSignal.signal();
        }
    }

    /// Deletes messages that were delivered before a time, and messages of sandboxes without a row. Returns their
    /// number.
    public int prune(Instant before) {
        return db.write(sql -> MessageRows.prune(sql, before));
    }

    private MessageSignal messageSignal(SandboxId sandbox) {
        return bells.computeIfAbsent(sandbox, id -> new MessageSignal());
    }

    private Instant now() {
        return Instant.ofEpochMilli(clock.millis());
    }

    private String newId() {
        var bytes = new byte[ID_BYTES];
        random.nextBytes(bytes);
        return "msg" + HexFormat.of().formatHex(bytes);
    }
}
