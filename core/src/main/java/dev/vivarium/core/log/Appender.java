package dev.vivarium.core.log;

import dev.vivarium.core.GroupQueue;
import dev.vivarium.core.log.EventRows.Name;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.Sql;
import dev.vivarium.model.Event;
import dev.vivarium.model.EventCodec;
import dev.vivarium.model.Failure;
import dev.vivarium.model.LogId;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.SandboxException;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Single writer of the log, with group commit. Thread-safe.
///
/// For each group it numbers the events, inserts them in one transaction, publishes them to the readers, and completes
/// the callers, in this order. Therefore an acknowledged event is durable, and readers see no gap.
///
/// The appender counts the numbers itself. It reads the last number of a log from the store once. After a failed
/// commit the state of the store is unknown, so the appender reads the number again.
final class Appender implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Appender.class);
    private static final int QUEUE = 8192;
    private static final int GROUP = 512;
    private static final long LINGER = 5_000_000;
    private static final long RETURN = 300_000;
    private static final int COUNTED = 10_000;

    /// Exceeds the time that a write waits for the lock. An event whose caller got a timeout must not appear later.
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private final Db db;
    private final InstantSource clock;
    private final EventCodec codec;
    private final Consumer<List<Event>> readers;
    private final GroupQueue<Pending> queue;

    /// Size of the previous group. Confined to the worker thread.
    private int lastGroup;

    /// Last durable number of each log, as far as it is known. Only the worker changes it. If an entry is
    /// wrong, the store rejects the duplicate number.
    private final Map<LogId, Long> heads = new ConcurrentHashMap<>();

    /// @param readers receives all new events, in order
    Appender(Db db, InstantSource clock, EventCodec codec, Consumer<List<Event>> readers) {
        this.db = db;
        this.clock = clock;
        this.codec = codec;
        this.readers = readers;
        this.queue = new GroupQueue<>("log-appender", QUEUE, GROUP, this::write);
    }

    /// One event to append, and its outcome. The caller encodes the data, so that the worker does not have to.
    ///
    /// @param isAwaited whether the caller waits for it
    private record Pending(
            LogId logId, NewEvent event, String data, CompletableFuture<AppendResult> outcome, boolean isAwaited) {
        Optional<Name> name() {
            return event.id().map(id -> new Name(logId, id));
        }
    }

    /// Result of one transaction.
    private record Written(List<AppendResult> outcomes, Map<LogId, Long> heads) {
        List<Event> added() {
            return outcomes.stream()
                    .filter(AppendResult::isNew)
                    .map(AppendResult::event)
                    .toList();
        }
    }

    AppendResult append(LogId logId, NewEvent event) {
        Pending pending = pending(logId, event, true);
        queue(pending);
        return await(pending);
    }

    /// Appends several events, which are written together.
    List<AppendResult> append(LogId logId, List<NewEvent> events) {
        List<Pending> pending =
                events.stream().map(event -> pending(logId, event, true)).toList();
        pending.forEach(this::queue);
        return pending.stream().map(Appender::await).toList();
    }

    private Pending pending(LogId logId, NewEvent event, boolean isAwaited) {
        return new Pending(logId, event, event.data(codec), new CompletableFuture<>(), isAwaited);
    }

    private void queue(Pending pending) {
        try {
            if (!queue.offer(pending, TIMEOUT.toNanos())) {
                throw failed(queue.isClosed() ? "the log is closed" : "the log has " + QUEUE + " events waiting");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw failed("interrupted before an event was written");
        }
    }

    private static AppendResult await(Pending pending) {
        try {
            return pending.outcome.get(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof SandboxException failure ? failure : failed(String.valueOf(e.getCause()));
        } catch (TimeoutException e) {
            throw failed("an event took longer than " + TIMEOUT.toSeconds() + " s");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw failed("interrupted while an event was written; send it again with the same event_id");
        }
    }

    /// Queues the event without waiting for the write. Blocks only while the queue is full.
    void note(LogId logId, NewEvent event) {
        Pending pending = pending(logId, event, false);
        var _ = pending.outcome.exceptionally(why -> {
            LOG.warn("an event {} of {} was not kept: {}", event.type(), logId, why.getMessage());
            return null;
        });
        try {
            queue(pending);
        } catch (SandboxException e) {
            pending.outcome.completeExceptionally(e);
        }
    }

    private static SandboxException failed(String why) {
        return new SandboxException(new Failure.StoreFailed(why));
    }

    private void write(List<Pending> group) {
        linger(group);
        commit(group);
        lastGroup = group.size();
    }

    /// Takes the queued events. While no caller waits for them, waits briefly for more: a commit costs as much as
    /// the command that the event reports.
    private void linger(List<Pending> group) {
        long until = System.nanoTime() + LINGER;
        queue.fill(group);
        while (group.size() < GROUP && group.stream().noneMatch(Pending::isAwaited)) {
            if (!queue.fillUntil(until, group)) {
                return;
            }
        }
    }

    /// Events that arrive during the write join the group.
    private void commit(List<Pending> group) {
        try {
            Written written = db.writeHere(sql -> insertAll(sql, group));
            heads.putAll(written.heads);
            readers.accept(written.added());
            for (int i = 0; i < group.size(); i++) {
                group.get(i).outcome.complete(written.outcomes.get(i));
            }
        } catch (RuntimeException e) {
            fail(group, e);
        } catch (Error e) {
            fail(group, e);
            throw e;
        }
        if (heads.size() > COUNTED) {
            heads.clear();
        }
    }

    private void fail(List<Pending> group, Throwable cause) {
        heads.clear();
        group.forEach(pending -> pending.outcome.completeExceptionally(cause));
    }

    /// Callers that were just completed are about to append again. The worker inserts the group and waits briefly
    /// for them, so that they share the commit.
    private Written insertAll(Sql sql, List<Pending> group) throws SQLException {
        long until = System.nanoTime() + RETURN;
        var written = new Written(new ArrayList<>(GROUP), new HashMap<>());
        do {
            insert(sql, group.subList(written.outcomes.size(), group.size()), written);
        } while (group.size() < lastGroup && queue.fillUntil(until, group));
        return written;
    }

    /// Numbers and inserts some events of the group. Appending an existing id returns the stored event.
    private void insert(Sql sql, List<Pending> some, Written written) throws SQLException {
        Map<Name, Event> known = known(sql, some);
        Instant now = Instant.ofEpochMilli(clock.millis());
        var added = new ArrayList<Event>(some.size());
        for (Pending pending : some) {
            Optional<Name> name = pending.name();
            Optional<Event> old = name.map(known::get);
            Event event = old.isPresent() ? old.get() : numbered(sql, pending, now, written.heads);
            if (old.isEmpty()) {
                added.add(event);
                name.ifPresent(given -> known.put(given, event));
            }
            written.outcomes.add(new AppendResult(event, old.isEmpty()));
        }
        EventRows.insert(sql, added);
    }

    private Event numbered(Sql sql, Pending pending, Instant now, Map<LogId, Long> counted) throws SQLException {
        NewEvent event = pending.event;
        long seq = next(sql, pending.logId, counted);
        String id = event.id().orElseGet(() -> Event.idOf(pending.logId, seq));
        return new Event(pending.logId, seq, id, event.type(), pending.data, event.source(), now, event.task());
    }

    private static Map<Name, Event> known(Sql sql, List<Pending> group) throws SQLException {
        List<Name> given = group.stream()
                .flatMap(pending -> pending.name().stream())
                .distinct()
                .toList();
        var known = new HashMap<Name, Event>();
        for (Event event : EventRows.named(sql, given)) {
            known.put(new Name(event.logId(), event.id()), event);
        }
        return known;
    }

    private long next(Sql sql, LogId logId, Map<LogId, Long> counted) throws SQLException {
        Long head = counted.getOrDefault(logId, heads.get(logId));
        long next = (head == null ? EventRows.head(sql, logId) : head) + 1;
        counted.put(logId, next);
        return next;
    }

    /// Writes the queued events, then stops. Idempotent.
    @Override
    public void close() {
        queue.close(TIMEOUT);
    }
}
