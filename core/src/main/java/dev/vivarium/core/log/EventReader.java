package dev.vivarium.core.log;

import dev.vivarium.core.CriticalThread;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.Sql;
import dev.vivarium.model.Event;
import dev.vivarium.model.Failure;
import dev.vivarium.model.LogId;
import dev.vivarium.model.SandboxException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Named reader of all logs, with a cursor in the database. Thread-safe.
///
/// The reader hands each event to its [Handler] in the order of its log. The handler changes the database in
/// the transaction that advances the cursor. After a crash the next server resumes at the cursor: it skips no event,
/// and no change happens twice. Only [Handler#committed] can be missed in a crash.
///
/// If the handler fails at an event, the reader commits the events before it, and retries it with growing pauses. Later
/// events of the same log wait. Other logs continue.
///
/// The events are read from the store and not from memory: a notification says only which log has grown.
public final class EventReader implements AutoCloseable {
    /// The work of a reader.
    public interface Handler {
        /// The types of the events that [#handle] gets.
        Set<String> types();

        /// The events that [#handle] gets, if they change while the reader runs, or if whole families are
        /// wanted. Called often, from several threads. Must not block.
        default EventTypes selection() {
            return EventTypes.of(types());
        }

        /// Applies an event. Must change nothing but the database, through `sql`. If it throws, the transaction
        /// is rolled back and the reader hands over the event again later.
        void handle(Sql sql, Event event) throws SQLException;

        /// Called after the commit.
        default void committed(Event event) {}
    }

    private static final Logger LOG = LoggerFactory.getLogger(EventReader.class);
    private static final Duration SHORTEST_PAUSE = Duration.ofSeconds(1);
    private static final Duration LONGEST_PAUSE = Duration.ofMinutes(5);
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    /// Logs in one transaction.
    private static final int GROUP = 64;

    /// Events of one log in one transaction.
    private static final int EVENTS = 100;

    private final Db db;
    private final String name;
    private final Handler handler;
    private final Thread worker;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    /// Logs that have grown, and the result of handling them. Guarded by `lock`.
    private final Map<LogId, CompletableFuture<Void>> pending = new LinkedHashMap<>();

    /// Logs at whose events the handler failed. Guarded by `lock`.
    private final Map<LogId, Retry> retries = new HashMap<>();

    /// Guarded by `lock`.
    private boolean closed;

    /// @param seq event at which the handler failed, or zero if the store failed
    /// @param at  time of the next attempt, as `System.nanoTime`
    private record Retry(long seq, int failures, long at) {
        boolean isDue() {
            return at - System.nanoTime() <= 0;
        }
    }

    EventReader(Db db, String name, Handler handler) {
        this.db = db;
        this.name = name;
        this.handler = handler;
        this.worker = CriticalThread.unstarted("log-reader-" + name, this::run);
    }

    void start() {
        worker.start();
    }

    String name() {
        return name;
    }

    /// Called by the appender after the commit. During the pause before a retry it does nothing, because the retry
    /// finds the new events too.
    void appended(List<Event> events) {
        EventTypes types = handler.selection();
        lock.lock();
        try {
            for (Event event : events) {
                Retry retry = retries.get(event.logId());
                if (types.includes(event.type()) && (retry == null || retry.isDue())) {
                    var _ = wake(event.logId());
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /// Waits until every event of the log that was appended before this call has been handled. An event that
    /// failed is retried at once. Fails with `StoreFailed` if the handler fails or does not finish in time; the
    /// reader then tries again by itself.
    public void await(LogId logId) {
        try {
            wake(logId).get(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof SandboxException failure ? failure : failed(String.valueOf(e.getCause()));
        } catch (TimeoutException e) {
            throw failed("the reader " + name + " took longer than " + TIMEOUT.toSeconds() + " s");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw failed("interrupted while waiting for the reader " + name);
        }
    }

    private SandboxException failed(String why) {
        return new SandboxException(new Failure.StoreFailed(why));
    }

    private CompletableFuture<Void> wake(LogId logId) {
        lock.lock();
        try {
            if (closed) {
                return CompletableFuture.failedFuture(failed("the log is closed"));
            }
            changed.signalAll();
            return pending.computeIfAbsent(logId, _ -> new CompletableFuture<>());
        } finally {
            lock.unlock();
        }
    }

    private void run() {
        try {
            while (!isResumed()) {
                pause();
            }
            for (var group = take(); !group.isEmpty(); group = take()) {
                handle(group);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /// Finds the logs that grew since the cursor was stored. Reports whether the store answered, or the reader is
    /// closed.
    private boolean isResumed() {
        try {
            for (LogId logId : db.read(sql -> CursorRows.behind(sql, name))) {
                var _ = wake(logId);
            }
            return true;
        } catch (SandboxException e) {
            LOG.warn("The reader {} starts later: {}", name, e.getMessage());
            return isClosed();
        }
    }

    private boolean isClosed() {
        lock.lock();
        try {
            return closed;
        } finally {
            lock.unlock();
        }
    }

    /// Waits a moment before a retry, or until the reader is closed.
    private void pause() throws InterruptedException {
        lock.lock();
        try {
            for (long left = SHORTEST_PAUSE.toNanos(); left > 0 && !closed; ) {
                left = changed.awaitNanos(left);
            }
        } finally {
            lock.unlock();
        }
    }

    /// The next logs; none if the reader is closed. They leave `pending` before they are read, so that
    /// an event that is appended afterwards adds its log again.
    private Map<LogId, CompletableFuture<Void>> take() throws InterruptedException {
        lock.lock();
        try {
            for (long left = wakeDueLocked(); pending.isEmpty() && !closed; left = wakeDueLocked()) {
                var _ = changed.awaitNanos(left);
            }
            var group = new LinkedHashMap<LogId, CompletableFuture<Void>>();
            var all = pending.entrySet().iterator();
            while (!closed && all.hasNext() && group.size() < GROUP) {
                var next = all.next();
                group.put(next.getKey(), next.getValue());
                all.remove();
                // The pause ends: an event that is appended during the attempt adds the sandbox again.
                retries.computeIfPresent(
                        next.getKey(), (_, last) -> new Retry(last.seq, last.failures, System.nanoTime()));
            }
            return group;
        } finally {
            lock.unlock();
        }
    }

    /// Adds the retries that are due to `pending`. Returns the time until the next one, in nanoseconds.
    private long wakeDueLocked() {
        long next = LONGEST_PAUSE.toNanos();
        for (var retry : retries.entrySet()) {
            if (retry.getValue().isDue()) {
                var _ = wake(retry.getKey());
            }
            next = Math.min(next, retry.getValue().at - System.nanoTime());
        }
        return next;
    }

    private void handle(Map<LogId, CompletableFuture<Void>> group) {
        try {
            handleAll(List.copyOf(group.keySet()), EVENTS, new AtomicLong());
            group.keySet().forEach(this::succeeded);
            group.values().forEach(done -> done.complete(null));
        } catch (RuntimeException e) {
            group.forEach(this::handleOneByOne);
        }
    }

    /// Handles each event in its own transaction, so that the events before one that fails are committed.
    private void handleOneByOne(LogId logId, CompletableFuture<Void> done) {
        var current = new AtomicLong();
        try {
            handleAll(List.of(logId), 1, current);
            succeeded(logId);
            done.complete(null);
        } catch (RuntimeException e) {
            retryLater(logId, current.get(), e);
            done.completeExceptionally(e);
        }
    }

    private void succeeded(LogId logId) {
        lock.lock();
        try {
            retries.remove(logId);
        } finally {
            lock.unlock();
        }
    }

    /// Schedules the next attempt, and logs the first failure at an event.
    private void retryLater(LogId logId, long seq, RuntimeException e) {
        int failures;
        lock.lock();
        try {
            Retry last = retries.get(logId);
            failures = last != null && last.seq == seq ? last.failures + 1 : 1;
            long at = System.nanoTime() + pauseAfter(failures).toNanos();
            retries.put(logId, new Retry(seq, failures, at));
        } finally {
            lock.unlock();
        }
        if (failures == 1) {
            LOG.warn("The reader {} failed at event {} of {} and retries the event", name, seq, logId, e);
        }
    }

    /// Returns the pause before the next attempt. It doubles with each failure, up to [#LONGEST_PAUSE].
    static Duration pauseAfter(int failures) {
        Duration pause = SHORTEST_PAUSE.multipliedBy(1L << Math.min(failures - 1, 30));
        return pause.compareTo(LONGEST_PAUSE) < 0 ? pause : LONGEST_PAUSE;
    }

    /// @param limit   number of events of one log in one transaction
    /// @param current receives the number of the event that the handler gets
    private void handleAll(List<LogId> logs, int limit, AtomicLong current) {
        for (List<LogId> left = logs; !left.isEmpty(); ) {
            List<LogId> some = left;
            List<Step> steps = db.write(sql -> {
                var done = new ArrayList<Step>();
                for (LogId logId : some) {
                    done.add(step(sql, logId, limit, current));
                }
                return done;
            });
            current.set(0);
            steps.forEach(step -> step.events.forEach(this::notifyCommitted));
            left = steps.stream().filter(Step::hasMore).map(Step::logId).toList();
        }
    }

    /// The events of one log that one transaction handled.
    private record Step(LogId logId, List<Event> events, boolean hasMore) {}

    private Step step(Sql sql, LogId logId, int limit, AtomicLong current) throws SQLException {
        // The head is read first: an event that follows it stays beyond the cursor unless it is handled here.
        long head = EventRows.head(sql, logId);
        EventTypes types = handler.selection();
        List<Event> events = EventRows.ofTypes(sql, logId, CursorRows.seq(sql, name, logId), types, limit);
        for (Event event : events) {
            current.set(event.seq());
            handler.handle(sql, event);
        }
        boolean hasMore = events.size() == limit;
        long last = events.isEmpty() ? 0 : events.getLast().seq();
        CursorRows.advance(sql, name, logId, hasMore ? last : Math.max(head, last));
        return new Step(logId, events, hasMore);
    }

    private void notifyCommitted(Event event) {
        try {
            handler.committed(event);
        } catch (RuntimeException e) {
            LOG.warn("The reader {} failed after event {} of {}", name, event.seq(), event.logId(), e);
        }
    }

    /// Finishes the transaction that is under way. Idempotent.
    @Override
    public void close() {
        List<CompletableFuture<Void>> left;
        lock.lock();
        try {
            closed = true;
            changed.signalAll();
            left = List.copyOf(pending.values());
            pending.clear();
        } finally {
            lock.unlock();
        }
        left.forEach(late -> late.completeExceptionally(failed("the log is closed")));
        try {
            worker.join(TIMEOUT);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
