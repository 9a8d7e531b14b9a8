package dev.vivarium.core.log;

import dev.vivarium.core.store.Db;
import dev.vivarium.model.Event;
import dev.vivarium.model.EventCodec;
import dev.vivarium.model.Failure;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
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

/// Event log of all sandboxes: appended once, ordered, readable from any position, and followed live. Thread-safe.
///
/// A follower has only a position in the log. Events that it has not read wait in the store, not in memory.
public final class EventLog implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(EventLog.class);
    private static final long STEP = 1000;

    private final Db db;
    private final EventCodec codec;
    private final Appender appender;
    private volatile Runnable refusal = () -> {};

    /// Sandboxes that have followers.
    private final Map<SandboxId, Following> followed = new ConcurrentHashMap<>();

    private final List<EventReader> readers = new CopyOnWriteArrayList<>();
    private final RecentEvents everything = new RecentEvents();
    private final PositionIndex trail = new PositionIndex();

    /// Last number of each log at its latest size check by [#prune].
    private final Map<SandboxId, Long> looked = new ConcurrentHashMap<>();

    /// Followers of one sandbox, and its recent events. Immutable.
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

    /// Appends an event and returns when it is durable. If the log of the sandbox contains the id, does not append
    /// it again.
    public AppendResult append(SandboxId sandbox, NewEvent event) {
        requireAllowed(event);
        return appender.append(sandbox, event);
    }

    /// Appends several events of a sandbox, in order, and returns when all of them are durable.
    public List<AppendResult> append(SandboxId sandbox, List<NewEvent> events) {
        events.forEach(this::requireAllowed);
        return appender.append(sandbox, events);
    }

    /// Appends an event of the server without waiting for the write, for callers that must not be delayed. The
    /// event is lost if the server crashes at this moment. If the store rejects it, the server logs a warning.
    public void note(SandboxId sandbox, NewEvent event) {
        try {
            requireAllowed(event);
        } catch (SandboxException e) {
            LOG.debug("An event {} of {} was dropped: {}", event.type(), sandbox, e.getMessage());
            return;
        }
        appender.note(sandbox, event);
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
    public List<Event> read(SandboxId sandbox, Query query) {
        return db.read(sql -> EventRows.list(sql, sandbox, query));
    }

    /// Returns the last matching events before a number, oldest first, with the same limits as [#read].
    public List<Event> readBefore(SandboxId sandbox, Query query, long beforeSeq) {
        return db.read(sql -> EventRows.listBefore(sql, sandbox, query, beforeSeq))
                .reversed();
    }

    /// Returns the next events for a follower. The size is bounded, so that slow followers do not fill the memory.
    List<Event> page(SandboxId sandbox, long afterSeq) {
        return db.read(sql -> EventRows.page(sql, sandbox, afterSeq));
    }

    /// Returns the newest events that the server itself appended and whose types begin with `prefix`, oldest first,
    /// with the same limits as [#read].
    public List<Event> newest(SandboxId sandbox, String prefix, int limit) {
        return db.read(sql -> EventRows.newest(sql, sandbox, prefix, limit)).reversed();
    }

    /// Returns the number of the newest event of a sandbox, or zero.
    public long head(SandboxId sandbox) {
        return db.read(sql -> EventRows.head(sql, sandbox));
    }

    /// Returns the number of the oldest stored event of a sandbox, or zero.
    public long first(SandboxId sandbox) {
        return db.read(sql -> EventRows.first(sql, sandbox));
    }

    /// Follows a sandbox after `seq`: stored events first, then new events. Fails with `InvalidRequest` if `seq` is
    /// past the end of the log. Such a number belongs to another log, and the follower would silently wait.
    public LogFollower follow(SandboxId sandbox, long seq) {
        requireKnown(sandbox, seq, "after_seq");
        var follower = new LogFollower(this, sandbox, seq);
        followed.compute(
                sandbox,
                (id, old) -> (old == null ? new Following(new RecentEvents(), List.of()) : old).with(follower));
        return follower;
    }

    /// Fails with `InvalidRequest` if `seq` is past the end of the log.
    ///
    /// @param name name of the request parameter
    public void requireKnown(SandboxId sandbox, long seq, String name) {
        long head = head(sandbox);
        if (seq > head) {
            throw new SandboxException(new Failure.InvalidRequest(
                    name,
                    "is " + seq + ", but the last event of this sandbox is " + head
                            + "; the number is not of its log"));
        }
    }

    void leave(LogFollower follower) {
        followed.computeIfPresent(follower.sandbox(), (id, old) -> {
            Following rest = old.without(follower);
            return rest.followers.isEmpty() ? null : rest;
        });
    }

    RecentEvents recent(SandboxId sandbox) {
        Following following = followed.get(sandbox);
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

    /// Subscribes to the new events of all sandboxes.
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
            Following following = followed.get(event.sandbox());
            if (following != null) {
                following.recent.add(event.seq(), List.of(event));
            }
        }
    }

    /// Deletes the events beyond `retention`. Keeps the newest event of each sandbox, because it holds the last
    /// number, and events that a follower or a reader has yet to read. Returns the number of deleted events.
    public int prune(Retention retention, InstantSource clock) {
        Instant before = clock.instant().minus(retention.age());
        int removed = 0;
        List<SandboxId> all = db.read(EventRows::sandboxes);
        looked.keySet().retainAll(Set.copyOf(all));
        for (SandboxId sandbox : all) {
            try {
                removed += prune(sandbox, before, retention.characters());
            } catch (SandboxException e) {
                LOG.debug("The log of {} is pruned later: {}", sandbox, e.getMessage());
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
    private int prune(SandboxId sandbox, Instant before, long characters) {
        long newest = head(sandbox);
        boolean isAsBefore = Objects.equals(looked.get(sandbox), newest);
        if (isAsBefore && !db.read(sql -> EventRows.hasOlder(sql, sandbox, before))) {
            return 0;
        }
        long last = db.read(sql -> EventRows.lastToGo(sql, sandbox, before, characters));
        if (last > 0) {
            readers.forEach(reader -> reader.await(sandbox));
        }
        int removed = 0;
        // In steps, so that other writers do not wait long.
        for (long from = db.read(sql -> EventRows.first(sql, sandbox)); from <= last; from += STEP) {
            long until = Math.min(from + STEP - 1, Math.min(last, newest - 1));
            removed += db.write(sql -> EventRows.deleteUntil(sql, sandbox, Math.min(until, place(sandbox))));
        }
        if (place(sandbox) >= last) {
            looked.put(sandbox, newest);
        }
        return removed;
    }

    /// Returns the position of the slowest follower.
    private long place(SandboxId sandbox) {
        Following following = followed.get(sandbox);
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
