package dev.vivarium.core.guest;

import dev.vivarium.model.Exit;
import dev.vivarium.model.Failure;

/// Observer of a guest. It is notified of each opened and ended channel, and corrects the causes of disconnects and
/// exits. Must be thread-safe.
public interface GuestObserver {
    /// Default observer, which does nothing.
    GuestObserver NONE = new GuestObserver() {};

    /// Called before a channel is opened; throws to refuse it. Otherwise, [#ended] follows once.
    default void began(Service service) {}

    /// Called after the end of a channel. The guest loop also calls it, so it must not block.
    default void ended(Service service) {}

    /// Observer of the channels of processes that no client waits for: detached commands and shared terminals.
    default GuestObserver ofKept() {
        return this;
    }

    /// Observer of the connections that programs inside open to the host.
    default GuestObserver ofInside() {
        return this;
    }

    /// Called when data passes a channel, in both directions. The guest loop also calls it, so it must not block.
    default void transferred() {}

    /// Failure for the callers of a lost guest. Called in the thread of the caller, without locks; may block
    /// briefly.
    default Failure diagnose(Failure.GuestUnreachable loss) {
        return loss;
    }

    /// Starts to observe a command, before its start. Close the result.
    default CommandWatch watchCommand() {
        return this::correctCause;
    }

    /// Observation of one command. Must be thread-safe.
    interface CommandWatch extends AutoCloseable {
        /// Corrects the exit of the command.
        Exit correctCause(Exit exit);

        /// Idempotent.
        @Override
        default void close() {}
    }

    /// Corrects the exit of a command with facts that the guest does not have, such as an OOM kill.
    default Exit correctCause(Exit exit) {
        return exit;
    }
}
