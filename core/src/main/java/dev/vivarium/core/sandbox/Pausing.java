package dev.vivarium.core.sandbox;

import dev.vivarium.core.Undo;
import dev.vivarium.core.guest.Guest;
import dev.vivarium.core.provider.Machine;
import dev.vivarium.core.provider.Provider;
import dev.vivarium.core.sandbox.PauseReason.Cause;
import dev.vivarium.core.store.SandboxRow.Phase;
import dev.vivarium.core.store.SandboxRows;
import dev.vivarium.core.store.SandboxRows.StoredPause;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.Status;
import java.time.Duration;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Pause and resume of one sandbox. Thread-safe.
final class Pausing {
    private static final Logger LOG = LoggerFactory.getLogger(Pausing.class);

    /// Maximum wait for another transition of the same sandbox.
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private final Sandbox sandbox;
    private final Provider provider;
    private final SandboxRows rows;
    private final DiskSpace space;
    private final Listeners listeners;
    private final GuestConnections connections;

    Pausing(
            Sandbox sandbox,
            Provider provider,
            SandboxRows rows,
            DiskSpace space,
            Listeners listeners,
            GuestConnections connections) {
        this.sandbox = sandbox;
        this.provider = provider;
        this.rows = rows;
        this.space = space;
        this.listeners = listeners;
        this.connections = connections;
    }

    void pause(PauseReason why) {
        if (!provider.capabilities().pauses()) {
            throw new SandboxException(
                    new Failure.Unsupported("pause", "the provider " + provider.name() + " cannot freeze"));
        }
        Optional<Lifecycle.PendingTransition> begun = sandbox.lifecycle().tryBegin(Transition.PAUSE, TIMEOUT);
        if (begun.isEmpty()) {
            requireStatus(Status.PAUSED);
            return;
        }
        try (Lifecycle.PendingTransition pending = begun.get()) {
            State.Running running = (State.Running) pending.before();
            if (why.cause() == Cause.DISK) {
                freezeFirst(running.machine(), why);
            } else {
                sandbox.fileCount().update(sandbox::passiveFiles);
                save(why);
                freeze(running.machine());
            }
            var guest = new State.Frozen(Optional.of(running.guest()));
            if (!pending.complete(new State.Paused(running.machine(), guest, why))) {
                throw sandbox.superseded();
            }
        }
        sandbox.sandboxEgress().cut();
        sandbox.lease().touch();
        listeners.call(listener -> listener.paused(sandbox.info(), why));
    }

    /// Freezes a sandbox that fills the disk, even if the store fails. If the pause is not stored, the next server
    /// resumes the sandbox, and freezes it again if its disk still grows.
    private void freezeFirst(Machine machine, PauseReason why) {
        machine.pause();
        try {
            save(why);
        } catch (SandboxException e) {
            LOG.warn("The pause of {} is not stored: {}", sandbox.id(), e.getMessage());
        }
    }

    private void save(PauseReason why) {
        var pause = new StoredPause(
                why.cause().text(), why.detail(), sandbox.fileCount().last());
        rows.pause(sandbox.id(), pause);
    }

    private void freeze(Machine machine) {
        try {
            machine.pause();
        } catch (RuntimeException e) {
            // Only some processes may be frozen, so the earlier state is restored.
            try (var undo = new Undo()) {
                undo.add("save " + sandbox.id() + " as running", () -> rows.phase(sandbox.id(), Phase.RUNNING));
                undo.add("thaw " + sandbox.id(), machine::resume);
            }
            throw e;
        }
    }

    void resume(PauseReason why) {
        requireResumable(why);
        Optional<Lifecycle.PendingTransition> begun = sandbox.lifecycle().tryBegin(Transition.RESUME, TIMEOUT);
        if (begun.isEmpty()) {
            requireStatus(Status.RUNNING);
            return;
        }
        try (Lifecycle.PendingTransition pending = begun.get()) {
            State.Paused paused = (State.Paused) pending.before();
            if (!pending.complete(new State.Running(paused.machine(), thaw(paused)))) {
                throw sandbox.superseded();
            }
        }
        sandbox.lease().touch();
        listeners.call(listener -> listener.resumed(sandbox.info(), why));
    }

    /// Only a person resumes a sandbox that the server froze. If disk space was low, there must be space again.
    private void requireResumable(PauseReason why) {
        if (!(sandbox.lifecycle().state() instanceof State.Paused paused)) {
            return;
        }
        if (why.cause() == Cause.TRAFFIC && paused.why().isByServer()) {
            throw refusal(paused);
        }
        if (paused.why().cause() == Cause.DISK) {
            space.requireRoom("resume " + sandbox.id());
        }
    }

    /// Failure of a call to a paused sandbox.
    SandboxException refusal(State.Paused paused) {
        if (paused.why().cause() != Cause.DISK) {
            return new SandboxException(new Failure.SandboxNotRunning(sandbox.id(), Status.PAUSED));
        }
        return new SandboxException(new Failure.NoDiskSpace(
                "sandbox " + sandbox.id() + " is frozen: " + paused.why().detail()
                        + "; resume it when there is space, or end it",
                Duration.ofSeconds(10)));
    }

    private Guest thaw(State.Paused paused) {
        try (var undo = new Undo()) {
            undo.add("save " + sandbox.id() + " as paused", () -> save(paused.why()));
            rows.phase(sandbox.id(), Phase.RUNNING);
            undo.add("freeze " + sandbox.id() + " again", paused.machine()::pause);
            paused.machine().resume();
            Guest guest = connections.thawed(sandbox, paused);
            undo.keep();
            return guest;
        }
    }

    private void requireStatus(Status wanted) {
        sandbox.requireNotEnded();
        if (sandbox.lifecycle().state().status() != wanted) {
            throw sandbox.superseded();
        }
    }
}
