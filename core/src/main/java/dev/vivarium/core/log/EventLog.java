package dev.vivarium.core.log;

import dev.vivarium.core.store.Db;
import dev.vivarium.model.Event;
import dev.vivarium.model.EventCodec;
import dev.vivarium.model.LogId;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.SandboxException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Event logs of sandboxes and tasks: appended once, ordered, readable from any position, and followed live.
/// Thread-safe.
///
/// A follower has only a position in the log. Events that it has not read wait in the store, not in memory.
public final class EventLog implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(EventLog.class);
    private static final long STEP = 1000;

    private final Db db;
    private final EventCodec codec;
    private final Appender appender;
    private volatile Runnable refusal = () -> {};

    /// Logs that have followers.
    private final Map<LogId, Following> followed = new ConcurrentHashMap<>();

    private final List<EventReader> readers = new CopyOnWriteArrayList<>();
    private final RecentEvents everything = new RecentEvents();
    private final PositionIndex trail = new PositionIndex();

    /// Last number of each log at its latest size check by [#prune].
    private final Map<LogId, Long> looked = new ConcurrentHashMap<>();

    /// Followers of one log, and its recent events. Immutable.
    private record Following(RecentEvents recent, List<LogFollower> followers) {
        Following with(LogFollower follower) {
            var more = new ArrayList<>(followers);
            more.add(follower);
            return new Following(recent, List.copyOf(more));
        }

        Following without(LogFollower follower) {
            return new Following(
                    recent,
                    followers.stream().filter(other -> other != follower).toList());
        }
    }

    public EventLog(Db db, InstantSource clock, EventCodec codec) {
        this.db = db;
        this.codec = codec;
        this.appender = new Appender(db, clock, codec, this::publish);
    }

    /// Returns the codec of the stored text. Readers that only forward events do not need it.
    public EventCodec codec() {
        return codec;
    }

    /// Appends an event and returns when it is durable. If the log contains the id, does not append
    /// it again.
    public AppendResult append(LogId logId, NewEvent event) {
        requireAllowed(event);
        return appender.append(logId, event);
    }

    /// Appends several events to a log, in order, and returns when all of them are durable.
    public List<AppendResult> append(LogId logId, List<NewEvent> events) {
        events.forEach(this::requireAllowed);
        return appender.append(logId, events);
    }

    /// Appends an event of the server without waiting for the write, for callers that must not be delayed. The
    /// event is lost if the server crashes at this moment. If the store rejects it, the server logs a warning.
    public void note(LogId logId, NewEvent event) {
        try {
            requireAllowed(event);
        } catch (SandboxException e) {
            LOG.debug("An event {} of {} was dropped: {}", event.type(), logId, e.getMessage());
            return;
        }
        appender.note(logId, event);
    }

    /// Calls `check` before each event, except lifecycle events of sandboxes. If it throws, the event is rejected.
    public void refuseWhen(Runnable check) {
        refusal = check;
    }

    private void requireAllowed(NewEvent event) {
        boolean isLifecycle =
                event.source().equals(NewEvent.OURS) && event.type().startsWith("sandbox.");
        if (!isLifecycle) {
            refusal.run();
        }
    }

    /// Returns the first matching events. Large events reduce their number below the limit, but never to zero.
    public List<Event> read(LogId logId, Query query) {
        return db.read(sql -> EventRows.list(sql, logId, query));
    }

    /// Returns the last matching events before a number, oldest first, with the same limits as [#read].
    public List<Event> readBefore(LogId logId, Query query, long beforeSeq) {
        return db.read(sql -> EventRows.listBefore(sql, logId, query, beforeSeq))
                .reversed();
    }

    /// Returns the next events for a follower. The size is bounded, so that slow followers do not fill the memory.
    List<Event> page(LogId logId, long afterSeq) {
        return db.read(sql -> EventRows.page(sql, logId, afterSeq));
    }

    /// Returns the newest events that the server itself appended and whose types begin with `prefix`, oldest first,
    /// with the same limits as [#read].
    public List<Event> newest(LogId logId, String prefix, int limit) {
        return db.read(sql -> EventRows.newest(sql, logId, prefix, limit)).reversed();
    }

    /// Returns the number of the newest event of a log, or zero.
    public long head(LogId logId) {
        return db.read(sql -> EventRows.head(sql, logId));
    }

    /// Returns the number of the oldest stored event of a log, or zero.
    public long first(LogId logId) {
        return db.read(sql -> EventRows.first(sql, logId));
    }

    /// Follows a log after `seq`: stored events first, then new events. Fails with `InvalidRequest` if `seq` is
    /// past the end of the log. Such a number belongs to another log, and the follower would silently wait.
    public LogFollower follow(LogId logId, long seq) {
        requireKnown(logId, seq, "after_seq");
        var follower = new LogFollower(this, logId, seq);
        followed.compute(
                logId, (id, old) -> (old == null ? new Following(new RecentEvents(), List.of()) : old).with(follower));
        return follower;
    }

    /// Fails with `InvalidRequest` if `seq` is past the end of the log.
    ///
    /// @param name name of the request parameter
    public void requireKnown(LogId logId, long seq, String name) {
        long head = head(logId);
        if (seq > head) {
            throw SandboxException.invalid(
                    name,
                    "is " + seq + ", but the last event of this log is " + head + "; the number is not of its log");
        }
    }

    void leave(LogFollower follower) {
        followed.computeIfPresent(follower.logId(), (id, old) -> {
            Following rest = old.without(follower);
            return rest.followers.isEmpty() ? null : rest;
        });
    }

    RecentEvents recent(LogId logId) {
        Following following = followed.get(logId);
        return following == null ? new RecentEvents() : following.recent;
    }

    /// Starts a durable reader that resumes where the reader of this name stopped. The log closes it.
    public EventReader reader(String name, EventReader.Handler handler) {
        var reader = new EventReader(db, name, handler);
        synchronized (readers) {
            if (readers.stream().anyMatch(other -> other.name().equals(name))) {
                throw new IllegalStateException("the log already has a reader " + name);
            }
            readers.add(reader);
        }
        // Registered first: an event that is appended before the reader queries the store wakes the reader again.
        reader.start();
        return reader;
    }

    /// Subscribes to the new events of all logs.
    public LiveFeed listen() {
        return new LiveFeed(everything, trail);
    }

    /// Runs in the appender thread, in the order of the log.
    private void publish(List<Event> events) {
        if (events.isEmpty()) {
            return;
        }
        long position = everything.last() + 1;
        trail.add(position, events);
        everything.add(position, events);
        readers.forEach(reader -> reader.appended(events));
        for (Event event : events) {
            Following following = followed.get(event.logId());
            if (following != null) {
                following.recent.add(event.seq(), List.of(event));
            }
        }
    }

    /// Deletes the events beyond `retention`. Keeps the newest event of each log, because it holds the last
    /// number, and events that a follower or a reader has yet to read. Returns the number of deleted events.
    public int prune(Retention retention, InstantSource clock) {
        Instant before = clock.instant().minus(retention.age());
        int removed = 0;
        List<LogId> all = db.read(EventRows::logs);
        looked.keySet().retainAll(Set.copyOf(all));
        for (LogId logId : all) {
            try {
                removed += prune(logId, before, retention.characters());
            } catch (SandboxException e) {
                LOG.debug("The log of {} is pruned later: {}", logId, e.getMessage());
            }
        }
        return removed;
    }

    /// Deletes the logs of sandboxes without a row, if they have no event since `before`. Returns the number of
    /// deleted events.
    public int forgetUnknown(Instant before) {
        return db.write(sql -> {
            int removed = EventRows.deleteUnknown(sql, before);
            CursorRows.deleteUnknown(sql);
            return removed;
        });
    }

    /// Computing the size of a log reads the whole log, so it is skipped if the log is unchanged.
    private int prune(LogId logId, Instant before, long characters) {
        long newest = head(logId);
        boolean isAsBefore = Objects.equals(looked.get(logId), newest);
        if (isAsBefore && !db.read(sql -> EventRows.hasOlder(sql, logId, before))) {
            return 0;
        }
        long last = db.read(sql -> EventRows.lastExpired(sql, logId, before, characters));
        if (last > 0) {
            readers.forEach(reader -> reader.await(logId));
        }
        int removed = 0;
        // In steps, so that other writers do not wait long.
        for (long from = db.read(sql -> EventRows.first(sql, logId)); from <= last; from += STEP) {
            long until = Math.min(from + STEP - 1, Math.min(last, newest - 1));
            removed += db.write(sql -> EventRows.deleteUntil(sql, logId, Math.min(until, place(logId))));
        }
        if (place(logId) >= last) {
            looked.put(logId, newest);
        }
        return removed;
    }

    /// Returns the position of the slowest follower.
    private long place(LogId logId) {
        Following following = followed.get(logId);
        return following == null
                ? Long.MAX_VALUE
                : following.followers.stream().mapToLong(LogFollower::seq).min().orElse(Long.MAX_VALUE);
    }

    @Override
    public void close() {
        readers.forEach(EventReader::close);
        appender.close();
    }
}
