package dev.vivarium.core.log;

import dev.vivarium.core.store.Db;
import dev.vivarium.model.Event;
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

/// What happened to every sandbox: appended once, kept in order, read again from any place, and followed live.
///
/// A follower has a place in the log and nothing else: what it has not taken yet waits in the store, not in memory.
/// Thread-safe.
public final class EventLog implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(EventLog.class);
    private static final long STEP = 1000;

    private final Db db;
    private final Appender appender;
    private volatile Runnable refusal = () -> {};

    /// Of the sandboxes that somebody follows.
    private final Map<SandboxId, Following> followed = new ConcurrentHashMap<>();

    private final List<EventReader> readers = new CopyOnWriteArrayList<>();
    private final RecentEvents everything = new RecentEvents();
    private final PositionIndex trail = new PositionIndex();

    /// The newest number of each log when it was last looked at for what may go.
    private final Map<SandboxId, Long> looked = new ConcurrentHashMap<>();

    /// Who follows one sandbox, and the newest of what happened to it. Immutable.
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

    public EventLog(Db db, InstantSource clock) {
        this.db = db;
        this.appender = new Appender(db, clock, this::tell);
    }

    /// Adds an event, and returns when it is on the disk. An event with an id that the sandbox's log has already is
    /// not added again.
    public AppendResult append(SandboxId sandbox, NewEvent event) {
        requireAllowed(event);
        return appender.append(sandbox, event);
    }

    /// Adds several events of a sandbox, in their order, and returns when all of them are on the disk.
    public List<AppendResult> append(SandboxId sandbox, List<NewEvent> events) {
        events.forEach(this::requireAllowed);
        return appender.append(sandbox, events);
    }

    /// Adds an event of our own without waiting for the disk: for those who must not be slowed down. It is lost if
    /// the server dies at this moment, and told in the log of the server if the store refuses it.
    public void note(SandboxId sandbox, NewEvent event) {
        try {
            requireAllowed(event);
        } catch (SandboxException e) {
            LOG.debug("An event {} of {} was dropped: {}", event.type(), sandbox, e.getMessage());
            return;
        }
        appender.note(sandbox, event);
    }

    /// Calls `check` before each event that is not of a sandbox's own life. If it throws, the event is refused.
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

    /// The first of those that are asked for: fewer than the limit says if they are large, and none only if there
    /// are none.
    public List<Event> read(SandboxId sandbox, Query query) {
        return db.read(sql -> EventRows.list(sql, sandbox, query));
    }

    /// The last of those that are asked for and stand before a number, oldest first; as many as the other would
    /// give.
    public List<Event> readBefore(SandboxId sandbox, Query query, long beforeSeq) {
        return db.read(sql -> EventRows.listBefore(sql, sandbox, query, beforeSeq))
                .reversed();
    }

    /// The next events for a follower: not so many that those who do not take them would fill the memory.
    List<Event> page(SandboxId sandbox, long afterSeq) {
        return db.read(sql -> EventRows.page(sql, sandbox, afterSeq));
    }

    /// The newest events of a sandbox that the server saw itself and whose types begin with `prefix`, oldest first;
    /// as many as [#read] would give.
    public List<Event> newest(SandboxId sandbox, String prefix, int limit) {
        return db.read(sql -> EventRows.newest(sql, sandbox, prefix, limit)).reversed();
    }

    /// The number of a sandbox's newest event, zero if there is none.
    public long head(SandboxId sandbox) {
        return db.read(sql -> EventRows.head(sql, sandbox));
    }

    /// The number of the oldest event of a sandbox that is kept, zero if there is none.
    public long first(SandboxId sandbox) {
        return db.read(sql -> EventRows.first(sql, sandbox));
    }

    /// Follows a sandbox from after `seq`: first what is kept, then what comes. Fails with `InvalidRequest` when
    /// its log does not go so far: the number is of another log, and whoever has it would hear nothing and not know
    /// why.
    public LogFollower follow(SandboxId sandbox, long seq) {
        requireKnown(sandbox, seq, "after_seq");
        var follower = new LogFollower(this, sandbox, seq);
        followed.compute(
                sandbox,
                (id, old) -> (old == null ? new Following(new RecentEvents(), List.of()) : old).with(follower));
        return follower;
    }

    /// Fails with `InvalidRequest` when no event of the sandbox has had this number yet.
    ///
    /// @param name where the caller has given it
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
        // Registered first: an event that is appended before the reader looks at the store wakes it again.
        reader.start();
        return reader;
    }

    /// Hears of what happens to all sandboxes from now on.
    public LiveFeed listen() {
        return new LiveFeed(everything, trail);
    }

    /// Runs in the appender, in the order of the log.
    private void tell(List<Event> events) {
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

    /// Removes what is older or more than `retention` allows, but neither the newest event of a sandbox, which
    /// keeps the count, nor what a follower or a reader has still to read. Returns how many went.
    public int prune(Retention retention, InstantSource clock) {
        Instant before = clock.instant().minus(retention.age());
        int removed = 0;
        List<SandboxId> all = db.read(EventRows::sandboxes);
        looked.keySet().retainAll(Set.copyOf(all));
        for (SandboxId sandbox : all) {
            removed += prune(sandbox, before, retention.characters());
        }
        return removed;
    }

    /// Removes the logs of sandboxes whose rows are gone, if nothing happened in them since `before`. Returns how
    /// many events went.
    public int forgetUnknown(Instant before) {
        return db.write(sql -> {
            int removed = EventRows.deleteUnknown(sql, before);
            CursorRows.deleteUnknown(sql);
            return removed;
        });
    }

    /// To look at the size of a log means to read it, which is left when it cannot have changed.
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
        // In steps, so that nobody who writes waits for long.
        for (long from = db.read(sql -> EventRows.first(sql, sandbox)); from <= last; from += STEP) {
            long until = Math.min(from + STEP - 1, Math.min(last, newest - 1));
            removed += db.write(sql -> EventRows.deleteUntil(sql, sandbox, Math.min(until, place(sandbox))));
        }
        if (place(sandbox) >= last) {
            looked.put(sandbox, newest);
        }
        return removed;
    }

    /// Where the last of the followers is.
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
