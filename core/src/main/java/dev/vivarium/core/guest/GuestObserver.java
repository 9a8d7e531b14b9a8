package dev.vivarium.core.guest;

import dev.vivarium.model.Exit;
import dev.vivarium.model.Failure;

/// Who answers for a guest: learns of every channel that comes and goes, and has the last word on what a loss or a
/// command's end means. Must be thread-safe.
public interface GuestObserver {
    /// The keeper of a guest that has no other.
    GuestObserver NONE = new GuestObserver() {};

    /// A channel is about to be opened; may refuse by throwing. Otherwise [#ended] follows, once.
    default void began(Service service) {}

    /// A channel has ended, in whatever way. Called by the guest loop too, so it must not wait.
    default void ended(Service service) {}

    /// What a caller whose guest was lost is told. Called in the caller's own worker, with no lock held; may wait a
    /// little to find out.
    default Failure explain(Failure.GuestUnreachable loss) {
        return loss;
    }

    /// How a command really ended, where the guest cannot know.
    default Exit explain(Exit exit) {
        return exit;
    }
}
