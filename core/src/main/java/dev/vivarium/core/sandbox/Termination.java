package dev.vivarium.core.sandbox;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.vivarium.core.provider.Provider.Disk;
import dev.vivarium.core.sandbox.Transition.Kind;
import dev.vivarium.core.store.EndMarkers;
import dev.vivarium.core.store.EndMarkers.Marker;
import dev.vivarium.core.store.SandboxRow;
import dev.vivarium.core.store.SandboxRow.Phase;
import dev.vivarium.model.End;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.Status;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// End of sandboxes: decided once, stored, removed from the thread, then the machine is removed. Thread-safe.
final class Termination {
    private static final Logger LOG = LoggerFactory.getLogger(Termination.class);
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    private final Engine engine;
    private final Capacity capacity;

    /// Markers of ends that are not stored yet.
    private final Optional<EndMarkers> markers;

    /// Ends that are not stored yet; [#settle] tries again.
    private final Map<SandboxId, UnstoredEnd> unstoredEnds = new ConcurrentHashMap<>();

    /// @param sandbox the sandbox at the time of its end
    private record UnstoredEnd(Marker marker, SandboxInfo sandbox) {}

    Termination(Engine engine, Capacity capacity) {
        this.engine = engine;
        this.capacity = capacity;
        this.markers =
                engine.config.disk().map(disk -> new EndMarkers(disk.home().resolve("ended")));
    }

    /// Ends `sandbox` and waits for the removal of its machine; if another thread already ends it, waits for that
    /// thread. If the store fails, the end proceeds, and a marker in the home records it until it is stored.
    void end(Sandbox sandbox, End.Cause cause, String detail) {
        Kind kind = Transition.endKind(cause);
        if (kind == Kind.TERMINATED && sandbox.info().end().isEmpty()) {
            engine.listeners.call(listener -> listener.ending(sandbox));
        }
        Optional<Lifecycle.PendingTransition> begun = sandbox.lifecycle().tryEnd(kind, TIMEOUT);
        if (begun.isEmpty()) {
            sandbox.awaitGone();
            return;
        }
        State before;
        try (Lifecycle.PendingTransition pending = begun.get()) {
            before = pending.before();
            var end = new End(cause, detail, engine.timeSource.now());
            store(sandbox, kind, end);
            if (!pending.complete(kind == Kind.TERMINATED ? new State.Terminated(end) : new State.Failed(end))) {
                sandbox.awaitGone();
                return;
            }
        }
        dispose(sandbox, before);
    }

    private void store(Sandbox sandbox, Kind kind, End end) {
        Phase phase = kind == Kind.TERMINATED ? Phase.TERMINATED : Phase.FAILED;
        try {
            engine.rows.end(sandbox.id(), phase, end);
        } catch (SandboxException e) {
            LOG.warn("The end of {} is stored later: {}", sandbox.id(), e.getMessage());
            var marker = new Marker(sandbox.id(), phase, end);
            unstoredEnds.put(
                    sandbox.id(), new UnstoredEnd(marker, sandbox.info().ended(status(phase), end)));
            mark(marker);
        }
    }

    private void mark(Marker marker) {
        markers.ifPresent(files -> files.put(marker));
    }

    /// The sandbox at the time of its end, if its end is not stored yet.
    Optional<SandboxInfo> findUnstored(SandboxId id) {
        return Optional.ofNullable(unstoredEnds.get(id)).map(UnstoredEnd::sandbox);
    }

    /// Sandboxes whose end is not stored yet.
    List<SandboxInfo> unstored() {
        return unstoredEnds.values().stream().map(UnstoredEnd::sandbox).toList();
    }

    /// Ends a sandbox that could not be started, like [#end]. If it ended before its row was written, the row is
    /// updated now.
    void endUnstarted(Sandbox sandbox, String detail) {
        end(sandbox, End.Cause.SERVER, detail);
        switch (sandbox.lifecycle().state()) {
            case State.Terminated(End end) -> store(sandbox, Kind.TERMINATED, end);
            case State.Failed(End end) -> store(sandbox, Kind.FAILED, end);
            case State.Creating _, State.Running _, State.Paused _, State.Recovering _, State.Hibernated _ -> {}
        }
    }

    private void dispose(Sandbox sandbox, State before) {
        engine.registry.unassign(sandbox);
        engine.listeners.call(listener -> listener.ended(sandbox.info()));
        closeStream(before);
        try {
            remove(sandbox.id());
            // A full file system has space again after the disk is deleted.
            Optional.ofNullable(unstoredEnds.get(sandbox.id())).ifPresent(end -> mark(end.marker()));
        } finally {
            engine.registry.remove(sandbox);
            releasePlace(sandbox, before);
            sandbox.markGone();
        }
        engine.listeners.call(listener -> listener.removed(sandbox.info()));
    }

    private void releasePlace(Sandbox sandbox, State before) {
        boolean hasPlace = !(before instanceof State.Hibernated);
        long diskBytes = sandbox.row().limits().diskBytes();
        if (hasPlace) {
            capacity.leave(diskBytes);
        }
        engine.quotas.count(sandbox.owner().user(), hasPlace ? -1 : 0, -diskBytes);
    }

    static void closeStream(State state) {
        switch (state) {
            case State.Running running -> running.guest().close();
            case State.Paused paused -> paused.guest().guest().ifPresent(guest -> guest.close());
            case State.Creating _, State.Recovering _, State.Hibernated _, State.Terminated _, State.Failed _ -> {}
        }
    }

    /// Removes every trace of a machine and releases its id. On failure, the id becomes an orphan, and the
    /// reconciler tries again. Returns true on success.
    @CanIgnoreReturnValue
    boolean remove(SandboxId id) {
        try {
            return engine.registry.exclusively(id, () -> {
                engine.provider.remove(id, Disk.ERASE);
                return true;
            });
        } catch (RuntimeException e) {
            LOG.warn("cannot remove machine {}, will try again: {}", id, e.getMessage());
            engine.listeners.call(listener -> listener.removalFailed(id, String.valueOf(e.getMessage())));
            return false;
        } finally {
            engine.registry.release(id);
        }
    }

    /// Stores the pending ends. If the store still fails, the next call tries again.
    void settle() {
        try {
            for (UnstoredEnd end : unstoredEnds.values()) {
                settle(end.marker());
                unstoredEnds.remove(end.marker().id());
                LOG.info("The end of {} is stored now", end.marker().id());
            }
        } catch (SandboxException e) {
            LOG.debug("{} ends are stored later: {}", unstoredEnds.size(), e.getMessage());
        }
    }

    private void settle(Marker marker) {
        engine.rows.end(marker.id(), marker.phase(), marker.end());
        markers.ifPresent(files -> files.remove(marker));
    }

    /// Adopts the ends that an earlier server could not store, and removes the rest of those machines. Call it
    /// before the recovery, because their rows are still live.
    void adoptMarked() {
        List<Marker> marked = markers.map(EndMarkers::list).orElse(List.of());
        for (Marker marker : marked) {
            SandboxId id = marker.id();
            Optional<SandboxInfo> known = engine.rows.find(id).flatMap(SandboxRow::info);
            known.ifPresent(info ->
                    unstoredEnds.put(id, new UnstoredEnd(marker, info.ended(status(marker.phase()), marker.end()))));
            if (known.isEmpty()) {
                markers.ifPresent(files -> files.remove(marker));
            }
            engine.registry.claim(id);
            engine.tasks.start("remove-" + id, () -> remove(id));
        }
        settle();
    }

    private static Status status(Phase phase) {
        return phase == Phase.TERMINATED ? Status.TERMINATED : Status.FAILED;
    }
}
