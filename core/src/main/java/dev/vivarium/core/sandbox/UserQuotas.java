package dev.vivarium.core.sandbox;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.vivarium.core.sandbox.SandboxesConfig.CapacityLimits;
import dev.vivarium.core.store.SnapshotRows;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxFailure.QuotaExceeded;
import dev.vivarium.model.UserId;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/// Usage of each user, within the [UserQuota]. Thread-safe.
public final class UserQuotas {
    private static final long MIB = 1024L * 1024;

    private final UserQuota quota;
    private final int maxSandboxes;

    /// False if one user may have all places: a full server then fails with `AtCapacity`.
    private final boolean limitsSandboxes;
    private final SnapshotRows snapshots;

    @GuardedBy("this")
    private final Map<UserId, Places> places = new HashMap<>();

    /// Number of snapshots that are being taken.
    @GuardedBy("this")
    private final Map<UserId, Integer> pending = new HashMap<>();

    UserQuotas(CapacityLimits room, SnapshotRows snapshots) {
        this.quota = room.perUser();
        this.maxSandboxes = quota.maxSandboxes(room.sandboxes());
        this.limitsSandboxes = quota.sandboxes() > 0 || maxSandboxes < room.sandboxes();
        this.snapshots = snapshots;
    }

    private record Places(int sandboxes, long diskBytes) {
        static final Places NONE = new Places(0, 0);

        Places plus(int number, long bytes) {
            return new Places(sandboxes + number, diskBytes + bytes);
        }
    }

    /// Usage of one user. Immutable.
    ///
    /// @param diskBytes sum of the disk limits of the sandboxes and of the sizes of the snapshots
    public record Usage(int sandboxes, int snapshots, long diskBytes) {}

    public UserQuota quota() {
        return quota;
    }

    /// Returns the maximum number of sandboxes of one user.
    public int maxSandboxes() {
        return maxSandboxes;
    }

    /// Returns the usage of every user who has a sandbox or a snapshot, by name.
    public Map<UserId, Usage> usage() {
        Map<UserId, SnapshotRows.Usage> stored = snapshots.usage();
        var all = new TreeMap<UserId, Usage>((a, b) -> a.value().compareTo(b.value()));
        for (UserId user : users(stored.keySet())) {
            all.put(user, usage(user, stored.getOrDefault(user, SnapshotRows.Usage.NONE)));
        }
        return all;
    }

    private synchronized Set<UserId> users(Set<UserId> more) {
        var users = new HashSet<>(more);
        users.addAll(places.keySet());
        return users;
    }

    private synchronized Usage usage(UserId user, SnapshotRows.Usage stored) {
        Places used = places.getOrDefault(user, Places.NONE);
        return new Usage(used.sandboxes(), stored.number(), used.diskBytes() + stored.bytes());
    }

    /// Counts a new sandbox. Fails with `QuotaExceeded` if the user has no place or disk space left.
    void enter(UserId user, long diskBytes) {
        SnapshotRows.Usage stored = quota.diskBytes() == 0 ? SnapshotRows.Usage.NONE : snapshots.usage(user);
        synchronized (this) {
            Usage used = usage(user, stored);
            requirePlace(user, used);
            requireDisk(user, used, diskBytes);
            count(user, 1, diskBytes);
        }
    }

    /// Counts a hibernated sandbox that starts again. Fails with `QuotaExceeded` if the user has no place left.
    synchronized void wake(UserId user) {
        requirePlace(user, usage(user, SnapshotRows.Usage.NONE));
        count(user, 1, 0);
    }

    /// Changes the usage of a user without a check. A hibernated sandbox has disk space and no place.
    synchronized void count(UserId user, int sandboxes, long diskBytes) {
        Places changed = places.getOrDefault(user, Places.NONE).plus(sandboxes, diskBytes);
        if (changed.equals(Places.NONE)) {
            places.remove(user);
        } else {
            places.put(user, changed);
        }
    }

    private void requirePlace(UserId user, Usage used) {
        if (limitsSandboxes && used.sandboxes() >= maxSandboxes) {
            throw exceeded(
                    "sandboxes",
                    maxSandboxes,
                    "%s has %d sandboxes, the maximum of one user; end one first".formatted(user, used.sandboxes()));
        }
    }

    /// Counts a snapshot that is about to be taken. Fails with `QuotaExceeded` if the user has no room for it. Call
    /// [#endSnapshot] when its row is written or it has failed.
    void beginSnapshot(UserId user) {
        synchronized (this) {
            pending.merge(user, 1, Integer::sum);
        }
        try {
            requireSnapshot(user);
        } catch (RuntimeException e) {
            endSnapshot(user);
            throw e;
        }
    }

    private void requireSnapshot(UserId user) {
        SnapshotRows.Usage stored = snapshots.usage(user);
        synchronized (this) {
            Usage used = usage(user, stored);
            int number = used.snapshots() + pending.getOrDefault(user, 0);
            if (quota.snapshots() > 0 && number > quota.snapshots()) {
                throw exceeded(
                        "snapshots",
                        quota.snapshots(),
                        "%s has %d snapshots, the maximum of one user; delete one".formatted(user, used.snapshots()));
            }
            requireDisk(user, used, 0);
        }
    }

    synchronized void endSnapshot(UserId user) {
        pending.computeIfPresent(user, (_, number) -> number == 1 ? null : Integer.valueOf(number - 1));
    }

    private void requireDisk(UserId user, Usage used, long more) {
        if (quota.diskBytes() > 0 && used.diskBytes() + more > quota.diskBytes()) {
            throw exceeded(
                    "disk",
                    quota.diskBytes(),
                    "the disks and snapshots of %s take %d MiB of the %d MiB of one user"
                                    .formatted(user, used.diskBytes() / MIB, quota.diskBytes() / MIB)
                            + "; end a sandbox or delete a snapshot");
        }
    }

    private static SandboxException exceeded(String what, long limit, String sentence) {
        return new SandboxException(new QuotaExceeded(what, limit, sentence + ", or ask the admin for a higher quota"));
    }
}
