package dev.vivarium.core.access;

import dev.vivarium.core.store.Db;
import dev.vivarium.model.Failure;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.ThreadKey;
import dev.vivarium.model.UserId;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// Invitations to threads. Held in memory, so that a lookup takes no query. Thread-safe.
public final class Members {
    private static final int MOST = 100;

    private final Db db;
    private final InstantSource clock;

    /// The inner maps are immutable and are replaced on change.
    private final Map<ThreadKey, Map<UserId, Member>> byThread = new ConcurrentHashMap<>();

    /// Owners of the threads that a user was invited to, by the user and the name of the thread. The sets are
    /// immutable and are replaced on change.
    private final Map<ThreadKey, Set<UserId>> ownersByMember = new ConcurrentHashMap<>();

    private final RightsChanges changes = new RightsChanges();

    private record Row(ThreadKey key, Member member) {}

    public Members(Db db, InstantSource clock) {
        this.db = db;
        this.clock = clock;
        var rows = db.read(sql -> sql.list(
                "select owner_id, thread_id, user_id, scopes, invited_at from members",
                row -> new Row(
                        new ThreadKey(new UserId(row.getString(1)), new ThreadId(row.getString(2))),
                        new Member(
                                new UserId(row.getString(3)),
                                Scopes.parse(row.getString(4)),
                                Instant.ofEpochMilli(row.getLong(5))))));
        rows.forEach(row -> remember(row.key(), row.member()));
    }

    /// Publishes the users whose invitations were changed or removed.
    public RightsChanges changes() {
        return changes;
    }

    public Optional<Member> find(ThreadKey key, UserId user) {
        return Optional.ofNullable(of(key).get(user));
    }

    /// Returns the owners of the threads of this name that the user was invited to, ordered by name.
    public List<UserId> owners(UserId user, ThreadId thread) {
        return ownersByMember.getOrDefault(new ThreadKey(user, thread), Set.of()).stream()
                .sorted(Comparator.comparing(UserId::value))
                .toList();
    }

    /// Returns the members of a thread, ordered by name.
    public List<Member> list(ThreadKey key) {
        return of(key).values().stream()
                .sorted(Comparator.comparing(member -> member.user().value()))
                .toList();
    }

    /// Invites a user, or changes the user's maximum scopes.
    public Member invite(ThreadKey key, UserId user, Scopes maxScopes) {
        var known = of(key);
        Failure.InvalidRequest.require(
                known.size() < MOST || known.containsKey(user),
                "user_id",
                "cannot be invited: a thread has at most " + MOST);
        var member = new Member(user, maxScopes, Instant.ofEpochMilli(clock.millis()));
        db.write(sql -> sql.update(
                "insert into members (owner_id, thread_id, user_id, scopes, invited_at) values (?, ?, ?, ?, ?)"
                        + " on conflict (owner_id, thread_id, user_id) do update set scopes = excluded.scopes",
                key.user().value(),
                key.thread().value(),
                user.value(),
                maxScopes.text(),
                member.invitedAt().toEpochMilli()));
        remember(key, member);
        changes.publish(user);
        return member;
    }

    /// Removes an invitation. Its tokens lose their rights immediately. Reports whether the invitation existed.
    public boolean remove(ThreadKey key, UserId user) {
        boolean removed = db.write(sql -> sql.update(
                        "delete from members where owner_id = ? and thread_id = ? and user_id = ?",
                        key.user().value(),
                        key.thread().value(),
                        user.value())
                == 1);
        byThread.computeIfPresent(key, (_, members) -> without(members, user));
        forgetOwner(key, user);
        changes.publish(user);
        return removed;
    }

    public void removeAll(ThreadKey key) {
        db.write(sql -> sql.update(
                "delete from members where owner_id = ? and thread_id = ?",
                key.user().value(),
                key.thread().value()));
        var removed = byThread.remove(key);
        if (removed != null) {
            removed.keySet().forEach(user -> forgetOwner(key, user));
            removed.keySet().forEach(changes::publish);
        }
    }

    private Map<UserId, Member> of(ThreadKey key) {
        return byThread.getOrDefault(key, Map.of());
    }

    private void forgetOwner(ThreadKey key, UserId user) {
        ownersByMember.computeIfPresent(new ThreadKey(user, key.thread()), (_, owners) -> {
            var rest = new HashSet<>(owners);
            rest.remove(key.user());
            return rest.isEmpty() ? null : Set.copyOf(rest);
        });
    }

    private void remember(ThreadKey key, Member member) {
        ownersByMember.merge(new ThreadKey(member.user(), key.thread()), Set.of(key.user()), (old, one) -> {
            var both = new HashSet<>(old);
            both.addAll(one);
            return Set.copyOf(both);
        });
        byThread.merge(key, Map.of(member.user(), member), (old, one) -> {
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
