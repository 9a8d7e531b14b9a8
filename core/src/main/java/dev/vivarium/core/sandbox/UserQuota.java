package dev.vivarium.core.sandbox;

import static dev.vivarium.model.Failure.InvalidRequest.require;

/// Limits of each user. Zero means no limit. Immutable.
///
/// @param sandboxes    maximum number of sandboxes that are not hibernated
/// @param sharePercent maximum share of all places for sandboxes, so that a place is left for other users
/// @param diskBytes    maximum sum of the disk limits of the sandboxes and of the sizes of the snapshots
/// @param snapshots    maximum number of snapshots
/// @param runs         maximum number of active runs
public record UserQuota(int sandboxes, int sharePercent, long diskBytes, int snapshots, int runs) {
    public static final UserQuota UNLIMITED = new UserQuota(0, 100, 0, 0, 0);

    public UserQuota {
        require(sharePercent >= 1 && sharePercent <= 100, "user-share-percent", "must be between 1 and 100");
    }

    /// Returns the maximum number of sandboxes on a server with this many places. The share is rounded down, so
    /// that a place is left for other users, but it is at least one.
    public int maxSandboxes(int places) {
        int share = (int) Math.max(1, (long) places * sharePercent / 100);
        return sandboxes == 0 ? share : Math.min(sandboxes, share);
    }
}
