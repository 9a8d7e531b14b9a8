package dev.vivarium.model;

import java.util.List;
import java.util.stream.Collectors;

/// Failures of sandboxes, their snapshots and their members. Immutable.
public sealed interface SandboxFailure extends Failure
        permits Failure.NoSandboxForThread,
                Failure.NoSuchSandbox,
                Failure.SandboxNotRunning,
                Failure.SandboxEnded,
                Failure.ThreadHasSandbox,
                Failure.NoSuchSnapshot,
                Failure.TooManySnapshots,
                Failure.AtCapacity,
                Failure.NoDiskSpace,
                Failure.DiskFull,
                Failure.GuestUnreachable,
                Failure.StartTimedOut,
                SandboxFailure.NoSuchMember,
                SandboxFailure.AmbiguousThread,
                SandboxFailure.QuotaExceeded {
    /// The user is not a member of the thread.
    record NoSuchMember(UserId user) implements SandboxFailure {
        @Override
        public String sentence() {
            return "that user is not a member of the thread";
        }
    }

    /// The user has reached a quota: `sandboxes`, `disk`, `snapshots` or `runs`.
    record QuotaExceeded(String quota, long limit, String sentence) implements SandboxFailure {}

    /// The caller may use threads of this name of several users, and the request does not name the owner.
    record AmbiguousThread(ThreadId thread, List<UserId> owners) implements SandboxFailure {
        public AmbiguousThread {
            owners = List.copyOf(owners);
        }

        @Override
        public String sentence() {
            return "several users share a thread '" + thread + "' with you; name its owner: "
                    + owners.stream().map(UserId::value).collect(Collectors.joining(", "));
        }
    }
}
