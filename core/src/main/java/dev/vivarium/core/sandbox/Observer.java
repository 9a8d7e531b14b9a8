package dev.vivarium.core.sandbox;

import dev.vivarium.core.egress.EgressRecord;
import dev.vivarium.core.exec.CommandStarted;
import dev.vivarium.core.exec.OutputListener;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import java.time.Duration;

/// Hears what happens to sandboxes, for logs and metrics. Called outside locks and by any worker; it must be quick, and
/// what it throws is logged and otherwise ignored.
public interface Observer {
    /// Where a sandbox came from.
    enum Origin {
        /// Handed out by the pool.
        WARM,
        /// Started for this request.
        COLD
    }

    /// How a sandbox was found again.
    enum Recovery {
        /// Its machine had gone on; only the stream was new.
        ADOPTED,
        /// Its machine was gone and was started again on its disk.
        REVIVED,
        /// The stream broke and was made anew.
        RECONNECTED,
        /// It was started again on the files of a snapshot.
        RESTORED
    }

    default void created(SandboxInfo sandbox, Origin origin, Duration took) {}

    /// A thread asked for a sandbox that it had already.
    default void reused(SandboxInfo sandbox) {}

    /// A sandbox could not be given: the server's fault or want of room.
    default void refused(Failure failure) {}

    /// A command was started, or found again. What it does is told to whoever is returned; one observer can have
    /// it.
    default OutputListener command(SandboxId sandbox, CommandStarted commandStarted) {
        return OutputListener.NOBODY;
    }

    default void paused(SandboxInfo sandbox, PauseReason why) {}

    default void resumed(SandboxInfo sandbox, PauseReason why) {}

    default void recovered(SandboxInfo sandbox, Recovery how) {}

    default void ended(SandboxInfo sandbox) {}

    /// A program inside made a connection outwards, or was refused one.
    default void passed(SandboxInfo sandbox, EgressRecord egressRecord) {}

    /// Every step of every sandbox through the table.
    default void moved(SandboxId id, Transition transition) {}

    /// A machine for the pool could not be started.
    default void poolStartFailed(Failure failure) {}

    /// Something without an owner was found and removed.
    default void orphanRemoved(SandboxId id) {}

    /// A machine could not be removed; it will be tried again.
    default void removalFailed(SandboxId id, String why) {}
}
