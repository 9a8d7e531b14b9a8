package dev.vivarium.core.sandbox;

import dev.vivarium.core.egress.EgressRecord;
import dev.vivarium.core.exec.CommandStarted;
import dev.vivarium.core.exec.OutputListener;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.TextEnum;
import java.time.Duration;

/// Listener for the lifecycle of all sandboxes, registered when [Sandboxes] is opened. Implementations are thread-safe.
///
/// The engine calls its listeners outside locks, one after the other in the order of registration. If a listener
/// throws, the engine logs the exception and calls the next one. Except for [#ending], a listener must return quickly.
///
/// A sandbox that is terminated gives `ending`, `ended`, `removed`, in this order. A sandbox that fails gives no
/// `ending`.
public interface SandboxListener {
    /// Source of a new sandbox.
    enum Origin implements TextEnum {
        /// The pool had a started machine.
        WARM,
        /// The machine was started for the request.
        COLD
    }

    /// How the server reached a sandbox again.
    enum Recovery implements TextEnum {
        /// The machine still ran; only the stream is new.
        ADOPTED,
        /// The machine was gone and was started again on its disk.
        REVIVED,
        /// The stream broke and was opened again.
        RECONNECTED,
        /// The machine was started again on the files of a snapshot.
        RESTORED
    }

    default void created(SandboxInfo sandbox, Origin origin, Duration took) {}

    /// A thread opened a sandbox that it already had.
    default void reused(SandboxInfo sandbox) {}

    /// A request for a sandbox failed.
    default void refused(Failure failure) {}

    /// A command started, or the server found it again after a restart. Returns the listener for its output; the
    /// first one that is not `NONE` gets the output.
    default OutputListener command(SandboxId sandbox, CommandStarted commandStarted) {
        return OutputListener.NONE;
    }

    default void paused(SandboxInfo sandbox, PauseReason why) {}

    default void resumed(SandboxInfo sandbox, PauseReason why) {}

    /// The sandbox has no machine and keeps its disk.
    default void hibernated(SandboxInfo sandbox, PauseReason why) {}

    /// A call started a machine on the disk of a hibernated sandbox.
    default void woken(SandboxInfo sandbox, Duration took) {}

    default void recovered(SandboxInfo sandbox, Recovery how) {}

    /// The sandbox is about to be ended or hibernated on purpose and is still usable. The end waits until this
    /// method returns.
    default void ending(Sandbox sandbox) {}

    /// The sandbox has ended and its thread has no sandbox. The machine still exists.
    default void ended(SandboxInfo sandbox) {}

    /// The engine has removed the machine of a sandbox that ended, or has left it to the reconciler.
    default void removed(SandboxInfo sandbox) {}

    /// A program inside opened an outbound connection, or the proxy refused it.
    default void passed(SandboxInfo sandbox, EgressRecord egressRecord) {}

    /// A sandbox took a step of the transition table.
    default void moved(SandboxId id, Transition transition) {}

    /// A machine for the pool did not start.
    default void poolStartFailed(Failure failure) {}

    /// The reconciler removed a machine that belonged to no sandbox.
    default void orphanRemoved(SandboxId id) {}

    /// A machine could not be removed; the reconciler tries again.
    default void removalFailed(SandboxId id, String why) {}
}
