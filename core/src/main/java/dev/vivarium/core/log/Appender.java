package dev.vivarium.core.log;

import dev.vivarium.core.VitalThread;
import dev.vivarium.core.log.EventRows.Name;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.Sql;
import dev.vivarium.model.Event;
import dev.vivarium.model.Failure;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The one writer of the log. It takes all that waits, numbers it, inserts it as one statement in one transaction,
/// tells the readers, and answers every caller: in this order, so that what was acknowledged is durable and what is
/// seen has no gap.
///
/// The numbers are counted here and read from the store only once for a sandbox, or after a commit that failed: then
/// nobody knows what is there. Thread-safe.
final class Appender implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Appender.class);
    private static final int QUEUE = 8192;
    private static final int GROUP = 512;
    private static final long LINGER = 5_000_000;
    private static final long RETURN = 300_000;
    private static final int COUNTED = 10_000;

    /// Longer than a write waits for its turn: who was told that an event took too long must not see it come.
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Db db;
    private final InstantSource clock;
    private final Consumer<List<Event>> readers;
    private final BlockingQueue<Pending> queue = new ArrayBlockingQueue<>(QUEUE);
    private final Thread worker;
    private volatile boolean closed;

    /// How many were written together before. The worker's own.
    private int lastGroup;

    /// The newest number of each sandbox, as far as it is known to be on the disk. Changed by the worker alone;
    /// where it is wrong for once, the store refuses a number that is taken.
    private final Map<SandboxId, Long> heads = new ConcurrentHashMap<>();

    /// @param readers is told of all new events, in their order
    Appender(Db db, InstantSource clock, Consumer<List<Event>> readers) {
        this.db = db;
        this.clock = clock;
        this.readers = readers;
        this.worker = VitalThread.start("log-appender", this::run);
    }

    /// One caller's event, and what became of it.
    ///
    /// @param isAwaited whether somebody waits for it
    private record Pending(
            SandboxId sandbox, NewEvent event, CompletableFuture<AppendResult> outcome, boolean isAwaited) {
        /// What its caller calls it.
        Optional<Name> name() {
            return event.id().map(id -> new Name(sandbox, id));
        }
    }

    /// What one transaction did.
    private record Written(List<AppendResult> outcomes, Map<SandboxId, Long> heads) {
        List<Event> added() {
            return outcomes.stream()
                    .filter(AppendResult::isNew)
                    .map(AppendResult::event)
                    .toList();
        }
    }

    AppendResult append(SandboxId sandbox, NewEvent event) {
        return await(queued(sandbox, event));
    }

    /// The same for several, which go to the disk together.
    List<AppendResult> append(SandboxId sandbox, List<NewEvent> events) {
        List<Pending> pending =
                events.stream().map(event -> queued(sandbox, event)).toList();
        return pending.stream().map(Appender::await).toList();
    }

    private Pending queued(SandboxId sandbox, NewEvent event) {
        var pending = new Pending(sandbox, event, new CompletableFuture<>(), true);
        try {
            if (closed || !queue.offer(pending, PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
                throw failed(closed ? "the log is closed" : "the log has " + QUEUE + " events waiting");
            }
            return pending;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw failed("interrupted before an event was written");
        }
    }

    private static AppendResult await(Pending pending) {
        try {
            return pending.outcome.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof SandboxException failure ? failure : failed(String.valueOf(e.getCause()));
        } catch (TimeoutException e) {
            throw failed("an event took longer than " + PATIENCE.toSeconds() + " s");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw failed("interrupted while an event was written; send it again with the same event_id");
        }
    }

    /// Leaves the event to the worker. Waits only while the queue is full.
    void note(SandboxId sandbox, NewEvent event) {
        var pending = new Pending(sandbox, event, new CompletableFuture<>(), false);
        var _ = pending.outcome.exceptionally(why -> {
            LOG.warn("an event {} of {} was not kept: {}", event.type(), sandbox, why.getMessage());
            return null;
        });
        try {
            if (closed || !queue.offer(pending, PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
                pending.outcome.completeExceptionally(failed("the log is closed or full"));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            pending.outcome.completeExceptionally(e);
        }
    }

    private static SandboxException failed(String why) {
        return new SandboxException(new Failure.StoreFailed(why));
    }

    private void run() {
        while (!closed || !queue.isEmpty()) {
            var group = new ArrayList<Pending>();
            try {
                group.add(queue.take());
                linger(group);
            } catch (InterruptedException e) {
                // close() does it; what is there is still written.
            }
            if (!group.isEmpty()) {
                commit(group);
                lastGroup = group.size();
            }
        }
    }

    /// Takes what there is. While nobody waits for any of it, some more may come: a commit costs as much as the
    /// command that it tells of.
    private void linger(List<Pending> group) throws InterruptedException {
        long until = System.nanoTime() + LINGER;
        queue.drainTo(group, GROUP - group.size());
        while (group.size() < GROUP && group.stream().noneMatch(Pending::isAwaited)) {
            if (!takeUntil(until, group)) {
                return;
            }
        }
    }

    /// Adds the next ones to the group, as soon as there are any. Reports whether some came in time.
    private boolean takeUntil(long nanoTime, List<Pending> group) throws InterruptedException {
        Pending next = queue.poll(nanoTime - System.nanoTime(), TimeUnit.NANOSECONDS);
        if (next == null) {
            return false;
        }
        group.add(next);
        queue.drainTo(group, GROUP - group.size());
        return true;
    }

    /// What comes while it is written is added to the group.
    private void commit(List<Pending> group) {
        try {
            Written written = db.writeHere(sql -> write(sql, group));
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

    /// Those who were answered a moment ago are about to come again. What is here is inserted meanwhile, and they
    /// are waited for a little, so that they share the commit.
    private Written write(Sql sql, List<Pending> group) throws SQLException {
        long until = System.nanoTime() + RETURN;
        var written = new Written(new ArrayList<>(GROUP), new HashMap<>());
        do {
            insert(sql, group.subList(written.outcomes.size(), group.size()), written);
        } while (group.size() < lastGroup && isJoined(group, until));
        return written;
    }

    private boolean isJoined(List<Pending> group, long until) {
        try {
            return takeUntil(until, group);
        } catch (InterruptedException e) {
            return false; // close() does it.
        }
    }

    /// Numbers and inserts some of the group. What has an id that is there already is answered with what is there.
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

    private Event numbered(Sql sql, Pending pending, Instant now, Map<SandboxId, Long> counted) throws SQLException {
        NewEvent event = pending.event;
        long seq = next(sql, pending.sandbox, counted);
        String id = event.id().orElseGet(() -> Event.idOf(pending.sandbox, seq));
        return new Event(pending.sandbox, seq, id, event.type(), event.data(), event.source(), now, event.task());
    }

    private static Map<Name, Event> known(Sql sql, List<Pending> group) throws SQLException {
        List<Name> given = group.stream()
                .flatMap(pending -> pending.name().stream())
                .distinct()
                .toList();
        var known = new HashMap<Name, Event>();
        for (Event event : EventRows.named(sql, given)) {
            known.put(new Name(event.sandbox(), event.id()), event);
        }
        return known;
    }

    private long next(Sql sql, SandboxId sandbox, Map<SandboxId, Long> counted) throws SQLException {
        Long head = counted.getOrDefault(sandbox, heads.get(sandbox));
        long next = (head == null ? EventRows.head(sql, sandbox) : head) + 1;
        counted.put(sandbox, next);
        return next;
    }

    /// Writes what is queued, then ends. Idempotent.
    @Override
    public void close() {
        closed = true;
        try {
            worker.interrupt();
            worker.join(PATIENCE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        queue.forEach(late -> late.outcome.completeExceptionally(failed("the log is closed")));
    }
}
