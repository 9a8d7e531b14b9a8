package dev.vivarium.core.run;

import dev.vivarium.core.files.Digests;
import dev.vivarium.core.log.AppendResult;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.sandbox.SandboxListener;
import dev.vivarium.core.store.Db;
import dev.vivarium.model.Message;
import dev.vivarium.model.MessageEvent;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.NewMessage;
import dev.vivarium.model.RunFailure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import java.nio.charset.StandardCharsets;
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

/// What was said to the agent of each sandbox and not heard yet. A message is kept on the disk before it is accepted,
/// and given out once. Both are events. One that was on its way when the server died is given out again, under the same
/// id: whoever has heard it knows. Thread-safe.
public final class Inbox implements SandboxListener {
    private static final int ID_BYTES = 12;

    /// So many are given out together: a worker names them all in one line when it has them.
    static final int AT_ONCE = 100;

    private static final int MOST = 1_000;

    /// An agent that is drowned in words can still be interrupted.
    private static final int MOST_INTERRUPTED = MOST + 100;

    private final Db db;
    private final EventLog log;
    private final InstantSource clock;
    private final SecureRandom random = new SecureRandom();
    private volatile long usualLatency = 50;
    private final Map<SandboxId, MessageSignal> bells = new ConcurrentHashMap<>();

    public Inbox(Db db, EventLog log, InstantSource clock) {
        this.db = db;
        this.log = log;
        this.clock = clock;
        db.write(MessageRows::putBackUndelivered);
    }

    /// A message that was accepted, and how many wait with it.
    public record Queued(Message message, int waiting) {}

    public Queued post(SandboxId sandbox, NewMessage said) {
        var message = message(newId(), said);
        var body = new MessageEvent.Posted(message.id(), message.kind(), message.content(), message.mode());
        var event = new NewEvent(Optional.of(eventId(message.id(), "said")), body, message.source());
        return post(sandbox, message, event).queued();
    }

    /// A message that was said as an event, which has an id. Said again, it is neither a second time.
    public AppendResult post(SandboxId sandbox, NewMessage said, NewEvent event) {
        String id = idOf(sandbox, event.id().orElseThrow());
        return post(sandbox, message(id, said), event).appended();
    }

    /// The message that an event says: the same for the same event.
    public static String idOf(SandboxId sandbox, String event) {
        String text = sandbox + " " + event;
        return "msg" + Digests.sha256(text.getBytes(StandardCharsets.UTF_8)).substring(0, 2 * ID_BYTES);
    }

    private Message message(String id, NewMessage said) {
        return new Message(id, said.content(), said.kind(), said.mode(), said.source(), now());
    }

    private record Posted(AppendResult appended, Queued queued) {}

    /// First the event: if the server dies before the message is kept, nobody was told that it was.
    private Posted post(SandboxId sandbox, Message message, NewEvent event) {
        requireRoom(sandbox, message.kind());
        AppendResult appended = log.append(sandbox, event);
        int waiting = db.write(sql -> {
            MessageRows.insert(sql, sandbox, message);
            return MessageRows.waiting(sql, sandbox);
        });
        messageSignal(sandbox).ring();
        return new Posted(appended, new Queued(message, waiting));
    }

    private void requireRoom(SandboxId sandbox, Message.Kind kind) {
        int waiting = waiting(sandbox);
        if (waiting >= (kind == Message.Kind.INTERRUPT ? MOST_INTERRUPTED : MOST)) {
            throw new SandboxException(new RunFailure.TooManyMessages(sandbox, waiting));
        }
    }

    private static String eventId(String message, String happening) {
        return NewEvent.OUR_IDS + message + "." + happening;
    }

    /// What waits, for a reader that has what it was sent.
    public Delivery taking(SandboxId sandbox) {
        return new AutoAckDelivery(this, sandbox);
    }

    /// What waits, a page of it and interrupts first; waits at most `patience` for the first of it. Who cannot pass
    /// it on gives it back.
    public List<Message> take(SandboxId sandbox, Duration patience) throws InterruptedException {
        return await(sandbox, patience, () -> takeNow(sandbox));
    }

    List<Message> await(SandboxId sandbox, Duration patience, Supplier<List<Message>> look)
            throws InterruptedException {
        long deadline = System.nanoTime() + patience.toNanos();
        MessageSignal messageSignal = messageSignal(sandbox);
        while (true) {
            long heard = messageSignal.heard();
            List<Message> messages = look.get();
            if (!messages.isEmpty() || !messageSignal.await(heard, deadline)) {
                return messages;
            }
        }
    }

    private List<Message> takeNow(SandboxId sandbox) {
        if (db.read(sql -> MessageRows.waiting(sql, sandbox)) == 0) {
            return List.of();
        }
        return db.write(sql -> {
            var messages = MessageRows.list(sql, sandbox, AT_ONCE);
            MessageRows.taken(sql, messages, now());
            return messages;
        });
    }

    /// What waits, like [#taking], but it goes on waiting until it is acknowledged: a worker that dies, or
    /// an answer that is lost, loses nothing.
    public Delivery offering(SandboxId sandbox) {
        return new AcknowledgedDelivery(this, sandbox);
    }

    /// What waits, at most so many, as long as it waits.
    List<Message> list(SandboxId sandbox, int most) {
        return db.read(sql -> MessageRows.list(sql, sandbox, most));
    }

    /// The worker has these; what it names that does not wait is no matter.
    public void acknowledge(SandboxId sandbox, Collection<String> ids) {
        List<Message> heard = db.write(sql -> {
            var waiting = MessageRows.list(sql, sandbox, MOST_INTERRUPTED).stream()
                    .filter(message -> ids.contains(message.id()))
                    .toList();
            MessageRows.taken(sql, waiting, now());
            return waiting;
        });
        delivered(sandbox, heard);
    }

    /// They wait again, in their old places.
    public void putBack(SandboxId sandbox, List<Message> messages) {
        db.write(sql -> {
            MessageRows.putBack(sql, messages);
            return messages.size();
        });
        messageSignal(sandbox).ring();
    }

    /// They have reached whoever took them. First the events: one whose row does not say so is given out again, and
    /// its event is kept once.
    public void delivered(SandboxId sandbox, List<Message> messages) {
        if (messages.isEmpty()) {
            return;
        }
        log.append(sandbox, messages.stream().map(this::heard).toList());
        db.write(sql -> {
            MessageRows.delivered(sql, messages, now());
            return messages.size();
        });
    }

    private NewEvent heard(Message message) {
        long latency = Duration.between(message.at(), now()).toMillis();
        usualLatency = (usualLatency * 7 + latency) / 8;
        var body = new MessageEvent.Delivered(message.id(), message.kind(), Duration.ofMillis(latency));
        return new NewEvent(Optional.of(eventId(message.id(), "delivered")), body, NewEvent.OURS);
    }

    /// How long messages took lately, from being said to being heard.
    public Duration usualLatency() {
        return Duration.ofMillis(usualLatency);
    }

    public int waiting(SandboxId sandbox) {
        return db.read(sql -> MessageRows.waiting(sql, sandbox));
    }

    @Override
    public void ended(SandboxInfo sandbox) {
        MessageSignal messageSignal = bells.remove(sandbox.id());
        if (messageSignal != null) {
            messageSignal.ring();
        }
    }

    /// Forgets what was heard before that time, and what was said to sandboxes whose rows are gone. Returns how
    /// much it was.
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
