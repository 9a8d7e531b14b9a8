package dev.vivarium.core.sandbox;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.vivarium.core.provider.Provider.Disk;
import dev.vivarium.core.sandbox.Transition.Kind;
import dev.vivarium.core.store.SandboxRow.Phase;
import dev.vivarium.model.End;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// How sandboxes end, whoever wants it: decided once, stored, taken from the thread, then the machine removed.
/// Thread-safe.
final class Ending {
    private static final Logger LOG = LoggerFactory.getLogger(Ending.class);
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private final Engine engine;
    private final Capacity capacity;

    /// Ends that could not be stored; the reconciler tries again.
    private final Map<SandboxId, Owed> owed = new ConcurrentHashMap<>();

    private record Owed(Phase phase, End end) {}

    Ending(Engine engine, Capacity capacity) {
        this.engine = engine;
        this.capacity = capacity;
    }

    /// Ends `sandbox` and returns when its machine is gone; if somebody else ends it already, waits for that. A
    /// store that fails stops an end that was wished for, and nothing has happened then; it cannot stop a death.
    void end(Sandbox sandbox, End.Cause cause, String detail) {
        Kind kind = Transition.endKind(cause);
        if (kind == Kind.TERMINATED && sandbox.info().end().isEmpty()) {
            engine.tellEnding(sandbox);
        }
        Optional<Lifecycle.Move> begun = sandbox.lifecycle().tryEnd(kind, PATIENCE);
        if (begun.isEmpty()) {
            sandbox.awaitGone();
            return;
        }
        State before;
        try (Lifecycle.Move move = begun.get()) {
            before = move.before();
            var end = new End(cause, detail, engine.world.now());
            store(sandbox.id(), kind, end);
            if (!move.to(kind == Kind.TERMINATED ? new State.Terminated(end) : new State.Failed(end))) {
                sandbox.awaitGone();
                return;
            }
        }
        dispose(sandbox, before);
    }

    private void store(SandboxId id, Kind kind, End end) {
        Phase phase = kind == Kind.TERMINATED ? Phase.TERMINATED : Phase.FAILED;
        try {
            engine.rows.end(id, phase, end);
        } catch (SandboxException e) {
            if (kind == Kind.TERMINATED) {
                throw e;
            }
            owed.put(id, new Owed(phase, end));
        }
    }

    /// Ends one that could not be started, like [#end]. If it was ended before its row was written, that end found
    /// no row to mark, and does now.
    void endUnstarted(Sandbox sandbox, String detail) {
        end(sandbox, End.Cause.SERVER, detail);
        switch (sandbox.lifecycle().state()) {
            case State.Terminated(End end) -> engine.rows.end(sandbox.id(), Phase.TERMINATED, end);
            case State.Failed(End end) -> engine.rows.end(sandbox.id(), Phase.FAILED, end);
            case State.Creating _, State.Running _, State.Paused _, State.Recovering _ -> {}
        }
    }

    private void dispose(Sandbox sandbox, State before) {
        engine.registry.unassign(sandbox);
        engine.tellEnded(sandbox.id());
        closeStream(before);
        try {
            remove(sandbox.id());
        } finally {
            engine.registry.remove(sandbox);
            capacity.leave();
            sandbox.markGone();
        }
        engine.tell(observer -> observer.ended(sandbox.info()));
    }

    private static void closeStream(State state) {
        switch (state) {
            case State.Running running -> running.guest().close();
            case State.Paused paused -> paused.guest().guest().ifPresent(guest -> guest.close());
            case State.Creating _, State.Recovering _, State.Terminated _, State.Failed _ -> {}
        }
    }

    /// Removes every trace of a machine and gives up its id. When it cannot, the id is an orphan, and the
    /// reconciler tries again until it is gone. Reports whether it is.
    @CanIgnoreReturnValue
    boolean remove(SandboxId id) {
        try {
            return engine.registry.inTurn(id, () -> {
                engine.provider.remove(id, Disk.ERASE);
                return true;
            });
        } catch (RuntimeException e) {
            LOG.warn("machine {} could not be removed and will be tried again: {}", id, e.getMessage());
            engine.tell(observer -> observer.removalFailed(id, String.valueOf(e.getMessage())));
            return false;
        } finally {
            engine.registry.release(id);
        }
    }

    /// Stores the ends that are owed.
    void settle() {
        for (var entry : owed.entrySet()) {
            engine.rows.end(
                    entry.getKey(), entry.getValue().phase(), entry.getValue().end());
            owed.remove(entry.getKey());
        }
    }
}
