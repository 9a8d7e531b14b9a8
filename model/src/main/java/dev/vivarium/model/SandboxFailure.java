package dev.vivarium.model;

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
                SandboxFailure.NoSuchMember {
    /// The user is not a member of the thread.
    record NoSuchMember(UserId user) implements SandboxFailure {
        @Override
        public String sentence() {
            return "that user is not a member of the thread";
        }
    }
}
