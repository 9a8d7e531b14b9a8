package dev.vivarium.core.sandbox;

import dev.vivarium.core.egress.EgressProxy;
import dev.vivarium.core.egress.SandboxEgress;
import dev.vivarium.core.guest.Disconnect;
import dev.vivarium.core.guest.Guest;
import dev.vivarium.core.inside.ControlPort;
import dev.vivarium.core.inside.ControlPorts;
import dev.vivarium.core.provider.Machine;
import dev.vivarium.core.provider.Polling;
import dev.vivarium.core.sandbox.Lifecycle.PendingTransition;
import dev.vivarium.core.store.SandboxRow;
import dev.vivarium.model.End;
import dev.vivarium.model.Status;
import java.time.Duration;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Connections between sandboxes and their guests, and the reconnect after a lost stream. Thread-safe.
///
/// The guest of a live machine has three attempts to reconnect. A protocol violation, a repeatedly closed stream or a
/// missing reply uses an attempt. After the last attempt, the sandbox is quarantined. If the machine died, the sandbox
/// ends with the cause. A failure of the server uses no attempt: the server retries without limit while the machine
/// lives.
final class GuestConnections {
    private static final Duration RECONNECT = Duration.ofSeconds(3);

    /// Maximum time between the end of a stream and the exit of its machine. The stream ends before the last
    /// process exits.
    private static final Duration DEATH = Duration.ofSeconds(10);
    private static final int CHANCES = 3;

    private static final Logger LOG = LoggerFactory.getLogger(GuestConnections.class);

    private final BackgroundTasks tasks;
    private final Listeners listeners;
    private final EgressProxy egressProxy;
    private final ControlPorts controlPorts;
    private final Launch launch;
    private final Termination termination;

    GuestConnections(
            BackgroundTasks tasks,
            Listeners listeners,
            EgressProxy egressProxy,
            ControlPorts controlPorts,
            Launch launch,
            Termination termination) {
        this.tasks = tasks;
        this.listeners = listeners;
        this.egressProxy = egressProxy;
        this.controlPorts = controlPorts;
        this.launch = launch;
        this.termination = termination;
    }

    /// Returns the egress of a sandbox. Each request is reported to the listeners.
    SandboxEgress egressOf(Sandbox sandbox) {
        SandboxRow row = sandbox.row();
        return new SandboxEgress(
                row.id(),
                egressProxy,
                row.egress(),
                request -> listeners.call(to -> to.passed(sandbox.info(), request)));
    }

    ControlPort controlPortOf(Sandbox sandbox) {
        return controlPorts.of(sandbox.id());
    }

    /// Attaches a guest to its sandbox. Call it before the guest is used and after the sandbox is registered.
    void attach(Sandbox sandbox, Machine machine, Guest guest) {
        guest.observedBy(sandbox.guestTraffic());
        guest.onLost(() -> tasks.start("lost-" + sandbox.id(), () -> lost(sandbox, machine, guest)));
        sandbox.shells().reattachTo(guest);
        sandbox.sandboxEgress().attach(guest);
        sandbox.controlPort().attach(guest);
        sandbox.processes().reattachTo(guest);
    }

    /// Returns the guest of a resumed machine.
    Guest thawed(Sandbox sandbox, State.Paused paused) {
        Optional<Guest> kept = paused.guest().guest().filter(Guest::isOpen);
        if (kept.isPresent()) {
            // The egress rules may have changed during the pause.
            sandbox.sandboxEgress().attach(kept.get());
            return kept.get();
        }
        Guest guest = launch.connect(paused.machine(), sandbox.secret(), RECONNECT);
        attach(sandbox, paused.machine(), guest);
        return guest;
    }

    private void lost(Sandbox sandbox, Machine machine, Guest guest) {
        if (tasks.isDraining() || sandbox.lifecycle().state().findEnd().isPresent()) {
            return;
        }
        Optional<PendingTransition> begun = sandbox.lifecycle().tryBegin(Transition.LOSE, RECONNECT);
        if (begun.isEmpty()) {
            endIfDead(sandbox, machine, guest);
            return;
        }
        try (PendingTransition pending = begun.get()) {
            boolean current = pending.before() instanceof State.Running(var _, var present) && present == guest;
            if (!current || !pending.complete(new State.Recovering(Status.RUNNING))) {
                return;
            }
        }
        reconnect(sandbox, machine, guest.loss());
    }

    /// A frozen guest cannot close its stream. If the stream breaks during a pause, either the machine died or this
    /// server closed the stream. In the second case, the guest reconnects after the resume.
    private void endIfDead(Sandbox sandbox, Machine machine, Guest guest) {
        boolean closedByUs = guest.loss()
                .filter(loss -> loss.cause() == Disconnect.Cause.CLOSED)
                .isPresent();
        Duration timeout = closedByUs ? Duration.ZERO : DEATH;
        boolean decided = Polling.until(
                timeout, () -> !isMachineOf(sandbox, machine) || !machine.isAlive() || tasks.isDraining());
        if (decided && isMachineOf(sandbox, machine) && !machine.isAlive()) {
            endDead(sandbox, machine);
        }
    }

    /// A sandbox that restarts on other files has no machine.
    private static boolean isMachineOf(Sandbox sandbox, Machine machine) {
        return sandbox.lifecycle().state().findMachine().filter(machine::equals).isPresent();
    }

    private void reconnect(Sandbox sandbox, Machine machine, Optional<Disconnect> loss) {
        String why = loss.map(Disconnect::why).orElse("the stream broke");
        int failures = sandbox.disconnects().count(loss);
        var retry = new Retry(tasks, sandbox);
        while (retry.isWanted()) {
            try {
                if (!machine.isAlive()) {
                    endDead(sandbox, machine);
                    return;
                }
                if (failures >= CHANCES) {
                    termination.end(sandbox, End.Cause.QUARANTINED, "its guest failed " + CHANCES + " times: " + why);
                    return;
                }
                Guest guest = launch.connect(machine, sandbox.secret(), RECONNECT);
                recovered(sandbox, machine, guest, SandboxListener.Recovery.RECONNECTED);
                return;
            } catch (RuntimeException e) {
                if (Retry.isFaultOfGuest(e)) {
                    failures++;
                    why = String.valueOf(e.getMessage());
                } else {
                    LOG.warn("the server failed to reconnect sandbox {} and tries again", sandbox.id(), e);
                    retry.pause();
                }
            }
        }
    }

    /// Sets the sandbox back to `Recovering`, if it runs with `guest`.
    private static void forget(Sandbox sandbox, Guest guest) {
        sandbox.lifecycle().tryBegin(Transition.LOSE, RECONNECT).ifPresent(begun -> {
            try (PendingTransition pending = begun) {
                if (pending.before() instanceof State.Running(var _, var present) && present == guest) {
                    pending.complete(new State.Recovering(Status.RUNNING));
                }
            }
        });
    }

    private void endDead(Sandbox sandbox, Machine machine) {
        if (sandbox.wasOomKilled(machine)) {
            termination.end(sandbox, End.Cause.OOM, "its machine died for want of memory");
        } else {
            termination.end(sandbox, End.Cause.CRASH, "its machine died");
        }
    }

    /// Sets a recovering sandbox to `Running`, or closes the guest if the sandbox has ended. On failure, the
    /// sandbox stays `Recovering`.
    void recovered(Sandbox sandbox, Machine machine, Guest guest, SandboxListener.Recovery how) {
        try {
            run(sandbox, machine, guest, how);
        } catch (RuntimeException e) {
            forget(sandbox, guest); // First, because the closed stream would count as a new loss.
            guest.close();
            throw e;
        }
    }

    private void run(Sandbox sandbox, Machine machine, Guest guest, SandboxListener.Recovery how) {
        Optional<PendingTransition> begun = sandbox.lifecycle().tryBegin(Transition.RECOVER, RECONNECT);
        if (begun.isEmpty()) {
            guest.close();
            return;
        }
        sandbox.shells().expectReattach();
        sandbox.processes().expectReattach();
        // First, because the reaper counts the time without a server as idle time.
        sandbox.lease().restartIdle();
        try (PendingTransition pending = begun.get()) {
            if (!pending.complete(new State.Running(machine, guest))) {
                guest.close();
                return;
            }
        }
        attach(sandbox, machine, guest);
        listeners.call(listener -> listener.recovered(sandbox.info(), how));
    }
}
