package dev.vivarium.core.access;

import dev.vivarium.model.SandboxId;
import dev.vivarium.model.UserId;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/// Publisher of lost rights. Thread-safe.
///
/// It publishes after the loss has taken effect. A listener that keeps a connection open then checks the right again.
public final class RightsChanges {
    private final List<Consumer<Change>> listeners = new CopyOnWriteArrayList<>();

    /// The user or the sandbox whose rights changed. Immutable.
    public sealed interface Change {
        /// A key or a session of the user ended, or an invitation was changed or removed.
        record OfUser(UserId user) implements Change {}

        /// Tokens for the sandbox were revoked, replaced or deleted.
        record OfSandbox(SandboxId sandbox) implements Change {}
    }

    /// Calls `listener` at each change, in the thread that made it. The listener must return quickly.
    public void listen(Consumer<Change> listener) {
        listeners.add(listener);
    }

    void publish(UserId user) {
        publish(new Change.OfUser(user));
    }

    void publish(SandboxId sandbox) {
        publish(new Change.OfSandbox(sandbox));
    }

    private void publish(Change change) {
        listeners.forEach(listener -> listener.accept(change));
    }
}
