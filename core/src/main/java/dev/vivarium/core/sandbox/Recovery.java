package dev.vivarium.core.sandbox;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.vivarium.core.guest.Guest;
import dev.vivarium.core.provider.Machine;
import dev.vivarium.core.sandbox.Launch.Launched;
import dev.vivarium.core.sandbox.Lifecycle.PendingTransition;
import dev.vivarium.core.store.SandboxRow;
import dev.vivarium.core.store.SandboxRow.Phase;
import dev.vivarium.core.store.SandboxRows.StoredPause;
import dev.vivarium.model.End;
import dev.vivarium.model.OnIdle;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.Status;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Recovery of sandboxes after a restart, in the background and several at a time. A caller waits only for the sandbox
/// of its thread. Thread-safe.
///
/// | store | provider | action |
/// |---|---|---|
/// | `running` | a machine | resume if frozen, reconnect; the processes continue |
/// | `running`, `paused` | no machine, but a disk | start again on the disk, with a new secret; hibernate by policy |
/// | `hibernated` | anything | remove the machine, if there is one |
/// | `paused` | a machine | freeze if needed; reconnect on resume |
/// | `running`, `paused` | nothing | fail: the host was restarted without its disk |
/// | `creating` | anything | fail, remove |
/// | `pooled` | an unused machine | return to the pool; anything else is removed, or kept in `orphans/` if used |
/// | `running`, `paused` | a disk in `orphans/` | move back, then as above |
final class Recovery {
    private static final Logger LOG = LoggerFactory.getLogger(Recovery.class);
    private static final Duration ADOPTION = Duration.ofSeconds(5);
    private static final int AT_A_TIME = 8;
    private static final int ATTEMPTS = 3;

    private final MachineOperations parts;
    private final Engine engine;
    private final Launch launch;
    private final Restart restart;
    private final GuestConnections connections;
    private final Termination termination;
    private final OrphanCleanup leftovers;
    private final Ownership ownership;
    private final Capacity capacity;
    private final Pool pool;
    private final Semaphore places = new Semaphore(AT_A_TIME, true);

    /// Pause reasons of the sandboxes that an earlier server paused.
    private final Map<SandboxId, StoredPause> pauses;

    private final Map<SandboxId, Duration> idleLimits;

    Recovery(
            MachineOperations parts,
            Restart restart,
            OrphanCleanup leftovers,
            Ownership ownership,
            Capacity capacity,
            Pool pool) {
        this.parts = parts;
        this.restart = restart;
        this.engine = parts.engine();
        this.launch = parts.launch();
        this.connections = parts.connections();
        this.termination = parts.termination();
        this.leftovers = leftovers;
        this.ownership = ownership;
        this.capacity = capacity;
        this.pool = pool;
        this.pauses = engine.rows.pauses();
        this.idleLimits = engine.rows.idleLimits();
    }

    /// Registers every sandbox of the store at once, and starts the search for their machines.
    void start() {
        termination.adoptMarked();
        leftovers.restoreKnownOrphans();
        for (SandboxRow row : engine.rows.alive()) {
            if (termination.findUnstored(row.id()).isPresent()) {
                continue;
            }
            engine.registry.claim(row.id());
            switch (row.phase()) {
                case RUNNING -> find(row, Status.RUNNING);
                case PAUSED -> find(row, Status.PAUSED);
                case HIBERNATED -> stayHibernated(row);
                case POOLED -> findWarm(row);
                case CREATING -> background("abandon-" + row.id(), () -> abandon(row));
                case TERMINATED, FAILED -> engine.registry.release(row.id());
            }
        }
    }

    /// Takes the place of the machine now, before the pool starts another machine for it.
    private void findWarm(SandboxRow row) {
        if (capacity.enterPool()) {
            background("adopt-" + row.id(), () -> pool.adopt(row));
        } else {
            background("discard-" + row.id(), () -> pool.forget(row.id()));
        }
    }

    private void find(SandboxRow row, Status status) {
        var sandbox = known(row, new State.Recovering(status));
        capacity.adopt(row.limits().diskBytes());
        engine.quotas.count(sandbox.owner().user(), 1, row.limits().diskBytes());
        engine.registry.add(sandbox);
        engine.registry.assign(sandbox);
        findLater(sandbox, status);
    }

    private Sandbox known(SandboxRow row, State state) {
        var sandbox = parts.sandbox(row, state);
        Optional.ofNullable(idleLimits.get(row.id())).ifPresent(sandbox.lease()::limitIdle);
        return sandbox;
    }

    /// An earlier server may have been killed before it removed the machine.
    private void stayHibernated(SandboxRow row) {
        var sandbox = known(row, new State.Hibernated(pauseReason(row.id())));
        sandbox.fileCount().last(countedFiles(row.id()));
        engine.quotas.count(sandbox.owner().user(), 0, row.limits().diskBytes());
        engine.registry.add(sandbox);
        engine.registry.assign(sandbox);
        background("hibernate-" + row.id(), () -> {
            parts.hibernation().removeMachine(row.id());
            ownership.confirm(sandbox);
        });
    }

    private Optional<Long> countedFiles(SandboxId id) {
        return Optional.ofNullable(pauses.get(id)).flatMap(StoredPause::files);
    }

    /// Recovers a sandbox in the background, until it is found or ends. After a failure of the server, the next
    /// attempt follows after a pause.
    void findLater(Sandbox sandbox, Status status) {
        var retry = new Retry(engine.tasks, sandbox);
        engine.tasks.start("recover-" + sandbox.id(), () -> {
            while (retry.isWanted() && !inPlace(() -> recover(sandbox, status))) {
                retry.pause();
            }
        });
    }

    private void background(String name, Runnable work) {
        engine.tasks.start(
                name,
                () -> inPlace(() -> {
                    work.run();
                    return true;
                }));
    }

    @CanIgnoreReturnValue
    private boolean inPlace(BooleanSupplier work) {
        places.acquireUninterruptibly();
        try {
            return work.getAsBoolean();
        } finally {
            places.release();
        }
    }

    /// Ends a sandbox whose creation an earlier server did not complete; no client has its id.
    private void abandon(SandboxRow row) {
        if (row.owner().isPresent()) {
            var end =
                    new End(End.Cause.SERVER, "the server stopped while it was being created", engine.timeSource.now());
            engine.rows.end(row.id(), Phase.FAILED, end);
        }
        leftovers.clear(row.id());
    }

    /// Reports whether the recovery of the sandbox is complete.
    private boolean recover(Sandbox sandbox, Status status) {
        try {
            Optional<Machine> machine = engine.provider.adopt(sandbox.id(), ADOPTION);
            boolean found = machine.isPresent() && adopted(sandbox, machine.get(), status);
            if (!found && !engine.tasks.isDraining()) {
                startOrHibernate(sandbox, machine.isPresent());
            }
            ownership.confirm(sandbox);
            return true;
        } catch (RuntimeException e) {
            if (engine.tasks.isDraining() || sandbox.info().end().isPresent()) {
                return true; // The next server recovers it, or its end has removed the machine.
            }
            LOG.warn("the server failed to recover sandbox {} and tries again: {}", sandbox.id(), e.getMessage());
            return false;
        }
    }

    /// Reports whether the machine replies, is frozen as stored, or is no longer needed.
    private boolean adopted(Sandbox sandbox, Machine machine, Status status) {
        if (status == Status.PAUSED) {
            machine.pause();
            renewGrace(sandbox, () -> machine.orphanGrace(engine.config.times().orphanGrace()));
            stayPaused(sandbox, machine);
            return true;
        }
        machine.resume();
        for (int attempt = 1; attempt <= ATTEMPTS && machine.isAlive() && !engine.tasks.isDraining(); attempt++) {
            try {
                Guest guest = launch.connect(machine, sandbox.secret(), ADOPTION);
                renewGrace(
                        sandbox,
                        () -> launch.setUp(
                                new Launched(machine, guest), sandbox.row().limits()));
                connections.recovered(sandbox, machine, guest, SandboxListener.Recovery.ADOPTED);
                return true;
            } catch (SandboxException e) {
                if (!Retry.isFaultOfGuest(e)) {
                    throw e; // The machine lives; a failure of the server must not end its processes.
                }
                LOG.warn("sandbox {} is there but does not answer: {}", sandbox.id(), e.getMessage());
            }
        }
        return false;
    }

    /// Sets the grace of this server. If that fails, the sandbox continues with its old grace.
    private static void renewGrace(Sandbox sandbox, Runnable setGrace) {
        try {
            setGrace.run();
        } catch (SandboxException e) {
            LOG.warn("the orphan grace of {} could not be set: {}", sandbox.id(), e.getMessage());
        }
    }

    private void stayPaused(Sandbox sandbox, Machine machine) {
        sandbox.lifecycle().tryBegin(Transition.FIND_PAUSED, ADOPTION).ifPresent(begun -> {
            try (PendingTransition pending = begun) {
                var guest = new State.Frozen(Optional.empty());
                sandbox.fileCount()
                        .last(Optional.ofNullable(pauses.get(sandbox.id())).flatMap(StoredPause::files));
                pending.complete(new State.Paused(machine, guest, pauseReason(sandbox.id())));
            }
            sandbox.lease().restartIdle();
            engine.listeners.call(listener -> listener.recovered(sandbox.info(), SandboxListener.Recovery.ADOPTED));
        });
    }

    private PauseReason pauseReason(SandboxId id) {
        return Optional.ofNullable(pauses.get(id)).map(PauseReason::of).orElse(PauseReason.UNKNOWN);
    }

    /// Without a machine, a sandbox that hibernates when idle waits for its next call.
    private void startOrHibernate(Sandbox sandbox, boolean hasMachine) {
        boolean hibernates = !hasMachine && sandbox.row().onIdle() == OnIdle.HIBERNATE;
        if (hibernates && engine.inventory.trace(sandbox.id()).hasDisk()) {
            parts.hibernation().hibernateRecovering(sandbox);
        } else {
            revive(sandbox);
        }
    }

    /// Starts the machine again on its disk. Only the files survive.
    private void revive(Sandbox sandbox) {
        Optional<Launched> launched = engine.registry.exclusively(sandbox.id(), () -> startOnOldDisk(sandbox));
        if (launched.isEmpty()) {
            termination.end(
                    sandbox, End.Cause.HOST_RESTART, "its machine and its disk were missing when the server started");
            return;
        }
        connections.recovered(
                sandbox, launched.get().machine(), launched.get().guest(), SandboxListener.Recovery.REVIVED);
    }

    /// Retries, because the workspace is at stake and one failure can be accidental.
    private Optional<Launched> startOnOldDisk(Sandbox sandbox) {
        for (int attempt = 1; ; attempt++) {
            try {
                return restart.start(sandbox, sandbox.lease().endsAt());
            } catch (SandboxException e) {
                if (attempt == ATTEMPTS) {
                    throw e;
                }
                LOG.warn("starting {} again failed, trying once more: {}", sandbox.id(), e.getMessage());
            }
        }
    }
}
