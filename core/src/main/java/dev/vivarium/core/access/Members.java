package dev.vivarium.core.access;

import dev.vivarium.core.store.Db;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// Invitations to threads. Held in memory, so that a lookup takes no query. Thread-safe.
public final class Members {
    private static final int MOST = 100;

    private final Db db;
    private final InstantSource clock;

    /// The inner maps are immutable and are replaced on change.
    private final Map<ThreadId, Map<UserId, Member>> byThread = new ConcurrentHashMap<>();

    private final RightsChanges changes = new RightsChanges();

    private record Row(ThreadId thread, Member member) {}

    public Members(Db db, InstantSource clock) {
        this.db = db;
        this.clock = clock;
        var rows = db.read(sql -> sql.list(
                "select thread_id, user_id, scopes, invited_at from members",
                row -> new Row(
                        new ThreadId(row.getString(1)),
                        new Member(
                                new UserId(row.getString(2)),
                                Scopes.parse(row.getString(3)),
                                Instant.ofEpochMilli(row.getLong(4))))));
        rows.forEach(row -> remember(row.thread(), row.member()));
    }

    /// Publishes the users whose invitations were changed or removed.
    public RightsChanges changes() {
        return changes;
    }

    public Optional<Member> find(ThreadId thread, UserId user) {
        return Optional.ofNullable(of(thread).get(user));
    }

    /// Returns the members of a thread, ordered by name.
    public List<Member> list(ThreadId thread) {
        return of(thread).values().stream()
                .sorted(Comparator.comparing(member -> member.user().value()))
                .toList();
    }

    /// Invites a user, or changes the user's maximum scopes.
    public Member invite(ThreadId thread, UserId user, Scopes most) {
        var known = of(thread);
        if (known.size() >= MOST && !known.containsKey(user)) {
            throw new SandboxException(
                    new Failure.InvalidRequest("user_id", "cannot be invited: a thread has at most " + MOST));
        }
        var member = new Member(user, most, Instant.ofEpochMilli(clock.millis()));
        db.write(sql -> sql.update(
                "insert into members (thread_id, user_id, scopes, invited_at) values (?, ?, ?, ?)"
                        + " on conflict (thread_id, user_id) do update set scopes = excluded.scopes",
                thread.value(),
                user.value(),
                most.text(),
                member.invitedAt().toEpochMilli()));
        remember(thread, member);
        changes.publish(user);
        return member;
    }

    /// Removes an invitation. Its tokens lose their rights immediately. Reports whether the invitation existed.
    public boolean remove(ThreadId thread, UserId user) {
        boolean removed = db.write(sql ->
                sql.update("delete from members where thread_id = ? and user_id = ?", thread.value(), user.value())
                        == 1);
        byThread.computeIfPresent(thread, (_, members) -> without(members, user));
        changes.publish(user);
        return removed;
    }

    /// Removes all invitations to a thread.
    public void removeAll(ThreadId thread) {
        db.write(sql -> sql.update("delete from members where thread_id = ?", thread.value()));
        var removed = byThread.remove(thread);
        if (removed != null) {
            removed.keySet().forEach(changes::publish);
        }
    }

    private Map<UserId, Member> of(ThreadId thread) {
        return byThread.getOrDefault(thread, Map.of());
    }

    private void remember(ThreadId thread, Member member) {
        byThread.merge(thread, Map.of(member.user(), member), (old, one) -> {
            var both = new HashMap<>(old);
            both.putAll(one);
            return Map.copyOf(both);
        });
    }

    private static @Nullable Map<UserId, Member> without(Map<UserId, Member> members, UserId user) {
        var rest = new HashMap<>(members);
        rest.remove(user);
        return rest.isEmpty() ? null : Map.copyOf(rest);
    }
}
