package dev.vivarium.core.sandbox;

import dev.vivarium.core.Undo;
import dev.vivarium.core.provider.Provider.Disk;
import dev.vivarium.core.sandbox.Launch.Launched;
import dev.vivarium.core.sandbox.Lifecycle.PendingTransition;
import dev.vivarium.core.store.SandboxRows.StoredPause;
import dev.vivarium.model.End;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.UserId;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Hibernation of sandboxes: the machine is removed and the disk stays, until a call starts a machine on it.
/// Thread-safe.
final class Hibernation {
    private static final Logger LOG = LoggerFactory.getLogger(Hibernation.class);

    /// Maximum wait for another transition of the same sandbox.
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    /// Maximum wait for another call that wakes the sandbox.
    private static final Duration WAKE_TIMEOUT = Duration.ofSeconds(60);

    private final Engine engine;
    private final Restart restart;
    private final GuestConnections connections;
    private final Termination termination;
    private final ColdStarts coldStarts;
    private final Pool pool;

    /// Hibernated sandboxes whose machine is not removed yet.
    private final Set<SandboxId> machinesToRemove = ConcurrentHashMap.newKeySet();

    Hibernation(
            Engine engine,
            Restart restart,
            GuestConnections connections,
            Termination termination,
            ColdStarts coldStarts,
            Pool pool) {
        this.engine = engine;
        this.restart = restart;
        this.connections = connections;
        this.termination = termination;
        this.coldStarts = coldStarts;
        this.pool = pool;
    }

    /// Removes the machine of a running or paused sandbox and keeps its disk. Does nothing if another transition is
    /// in progress; the reaper tries again.
    void hibernate(Sandbox sandbox, PauseReason why) {
        engine.listeners.call(listener -> listener.ending(sandbox));
        if (sandbox.lifecycle().state() instanceof State.Running) {
            sandbox.fileCount().update(sandbox::passiveFiles);
        }
        Optional<PendingTransition> begun = sandbox.lifecycle().tryHibernate(TIMEOUT);
        if (begun.isEmpty()) {
            return;
        }
        try (PendingTransition pending = begun.get()) {
            store(sandbox, why);
            sandbox.sandboxEgress().cut();
            machinesToRemove.add(sandbox.id());
            if (!enterHibernated(sandbox, pending, why)) {
                return;
            }
            Termination.closeStream(pending.before());
        }
        tryRemove(sandbox.id());
        engine.listeners.call(listener -> listener.hibernated(sandbox.info(), why));
        pool.refill();
    }

    /// Hibernates a recovering sandbox that has a disk and no machine.
    void hibernateRecovering(Sandbox sandbox) {
        sandbox.lifecycle().tryHibernate(TIMEOUT).ifPresent(begun -> {
            try (PendingTransition pending = begun) {
                removeMachine(sandbox.id());
                store(sandbox, PauseReason.NO_MACHINE);
                if (!enterHibernated(sandbox, pending, PauseReason.NO_MACHINE)) {
                    return;
                }
            }
            engine.listeners.call(listener -> listener.hibernated(sandbox.info(), PauseReason.NO_MACHINE));
        });
    }

    /// Releases the capacity of the sandbox and makes it hibernated. The release is first, because a call can wake
    /// the sandbox as soon as it is hibernated, and reserves the capacity again. Returns false if the sandbox has
    /// ended meanwhile.
    private boolean enterHibernated(Sandbox sandbox, PendingTransition pending, PauseReason why) {
        long diskBytes = sandbox.row().limits().diskBytes();
        UserId user = sandbox.owner().user();
        coldStarts.release(diskBytes);
        engine.quotas.count(user, -1, 0);
        boolean entered = pending.complete(new State.Hibernated(why));
        if (!entered) {
            // The end of a sandbox releases its capacity, so it must be reserved here.
            coldStarts.reserveAgain(diskBytes);
            engine.quotas.count(user, 1, 0);
        }
        return entered;
    }

    private void store(Sandbox sandbox, PauseReason why) {
        Instant end = engine.timeSource.now().plus(engine.config.times().keepHibernated());
        engine.rows.hibernate(sandbox.id(), storedPause(sandbox, why), end);
        sandbox.lease().endAt(end);
    }

    private static StoredPause storedPause(Sandbox sandbox, PauseReason why) {
        return new StoredPause(
                why.cause().text(), why.detail(), sandbox.fileCount().last());
    }

    /// Removes what is left of the machine of a hibernated sandbox. On failure, [#retryRemovals] tries again.
    void removeMachine(SandboxId id) {
        machinesToRemove.add(id);
        tryRemove(id);
    }

    private void tryRemove(SandboxId id) {
        if (engine.registry.find(id).isEmpty()) {
            machinesToRemove.remove(id); // The end of the sandbox removes the machine and the disk.
            return;
        }
        try {
            engine.registry.exclusively(id, () -> {
                // A call may have started another machine meanwhile.
                if (machinesToRemove.contains(id)) {
                    engine.provider.remove(id, Disk.KEEP);
                }
                return machinesToRemove.remove(id);
            });
        } catch (RuntimeException e) {
            LOG.warn("cannot remove the machine of {}, will try again: {}", id, e.getMessage());
        }
    }

    /// Tries again to remove the machines of hibernated sandboxes.
    void retryRemovals() {
        for (SandboxId id : machinesToRemove) {
            engine.tasks.startOnce("remove-machine-" + id, () -> tryRemove(id));
        }
    }

    /// Starts a machine on the disk of a hibernated sandbox. If another call does so, waits for it. On failure the
    /// sandbox stays hibernated.
    void wake(Sandbox sandbox) {
        Optional<PendingTransition> begun = sandbox.lifecycle().tryBegin(Transition.WAKE, WAKE_TIMEOUT);
        if (begun.isEmpty()) {
            return;
        }
        long began = engine.timeSource.nanos();
        Optional<Launched> started;
        try (PendingTransition pending = begun.get();
                var undo = new Undo()) {
            started = start(sandbox, (State.Hibernated) pending.before(), undo);
            if (started.isPresent()) {
                enterRunning(sandbox, pending, started.get());
                undo.keep();
            }
        }
        if (started.isEmpty()) {
            termination.end(sandbox, End.Cause.HOST_RESTART, "its disk was missing when a call started it");
            return;
        }
        connections.attach(sandbox, started.get().machine(), started.get().guest());
        Duration took = Duration.ofNanos(engine.timeSource.nanos() - began);
        engine.listeners.call(listener -> listener.woken(sandbox.info(), took));
    }

    /// Empty if there is no disk.
    private Optional<Launched> start(Sandbox sandbox, State.Hibernated before, Undo undo) {
        long diskBytes = sandbox.row().limits().diskBytes();
        Instant keptUntil = sandbox.lease().endsAt();
        UserId user = sandbox.owner().user();
        engine.quotas.wake(user);
        undo.add("release the quota of " + user, () -> engine.quotas.count(user, -1, 0));
        Capacity.Entry entry = coldStarts.reserve(diskBytes, "start sandbox " + sandbox.id() + " again");
        undo.add("release the capacity of " + sandbox.id(), () -> coldStarts.release(diskBytes));
        if (entry == Capacity.Entry.ENTERED_BY_EVICTION) {
            pool.evict();
        }
        undo.add(
                "save " + sandbox.id() + " as hibernated",
                () -> engine.rows.hibernate(sandbox.id(), storedPause(sandbox, before.why()), keptUntil));
        Instant end = engine.timeSource.now().plus(engine.config.times().lifetime());
        coldStarts.awaitTurn();
        Optional<Launched> started;
        try {
            started = engine.registry.exclusively(sandbox.id(), () -> restart(sandbox, end));
        } finally {
            coldStarts.endTurn();
        }
        started.ifPresent(launched -> undo.add("stop the machine of " + sandbox.id(), () -> stop(sandbox, launched)));
        return started;
    }

    private Optional<Launched> restart(Sandbox sandbox, Instant end) {
        Optional<Launched> started = restart.start(sandbox, end);
        machinesToRemove.remove(sandbox.id());
        return started;
    }

    private void stop(Sandbox sandbox, Launched launched) {
        launched.guest().close();
        removeMachine(sandbox.id());
    }

    private void enterRunning(Sandbox sandbox, PendingTransition pending, Launched launched) {
        sandbox.shells().expectReattach();
        sandbox.processes().expectReattach();
        sandbox.lease().endAt(engine.timeSource.now().plus(engine.config.times().lifetime()));
        sandbox.lease().touch();
        if (!pending.complete(new State.Running(launched.machine(), launched.guest()))) {
            throw sandbox.superseded();
        }
    }
}
