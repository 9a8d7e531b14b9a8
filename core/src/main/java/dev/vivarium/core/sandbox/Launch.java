package dev.vivarium.core.sandbox;

import dev.vivarium.core.StoreId;
import dev.vivarium.core.Undo;
import dev.vivarium.core.exec.Processes;
import dev.vivarium.core.guest.Guest;
import dev.vivarium.core.guest.GuestLoop;
import dev.vivarium.core.guest.SurvivingProcess;
import dev.vivarium.core.provider.Machine;
import dev.vivarium.core.provider.MachineSpec;
import dev.vivarium.core.provider.Provider;
import dev.vivarium.core.provider.Provider.Disk;
import dev.vivarium.core.shell.Shells;
import dev.vivarium.core.store.SandboxRow;
import dev.vivarium.model.Limits;
import java.nio.channels.SocketChannel;
import java.time.Duration;

/// Start of a machine with a connected guest. Failed steps are rolled back. Thread-safe.
final class Launch {
    private static final Duration FIRST_CONNECT = Duration.ofSeconds(30);

    private final Provider provider;
    private final GuestLoop loop;
    private final StoreId store;
    private final SandboxesConfig.Times times;

    Launch(Provider provider, GuestLoop loop, StoreId store, SandboxesConfig.Times times) {
        this.provider = provider;
        this.loop = loop;
        this.store = store;
        this.times = times;
    }

    /// A machine and the guest inside.
    record Launched(Machine machine, Guest guest) {}

    /// Starts a machine for `row`, whose id must be claimed and whose secret must be stored. If a step fails,
    /// removes the machine, and its disk according to `onFailure`.
    Launched start(SandboxRow row, Disk onFailure) {
        try (var undo = new Undo()) {
            undo.add("remove machine " + row.id(), () -> provider.remove(row.id(), onFailure));
            Machine machine = provider.start(
                    new MachineSpec(row.id(), row.secret(), row.image(), row.limits(), store, grace(row)));
            Guest guest = connect(machine, row.secret(), FIRST_CONNECT);
            undo.add("close the stream of " + row.id(), guest::close);
            undo.keep();
            return new Launched(machine, guest);
        }
    }

    private MachineSpec.OrphanGrace grace(SandboxRow row) {
        Duration first = row.owner().isPresent() ? times.orphanGrace() : times.unusedGrace();
        return new MachineSpec.OrphanGrace(first, times.orphanGrace());
    }

    /// Accepts the next connection of the guest. Processes of an earlier connection are detached, except shells and
    /// detached commands, which the server takes over.
    Guest connect(Machine machine, String secret, Duration timeout) {
        SocketChannel socket = machine.connect(timeout).channel();
        Guest guest = Guest.handshake(loop, machine.id(), socket, secret);
        try {
            for (SurvivingProcess survivor : guest.survivors()) {
                if (!Shells.isShell(survivor) && !Processes.isDetached(survivor)) {
                    guest.detach(survivor);
                }
            }
            return guest;
        } catch (RuntimeException e) {
            guest.close();
            throw e;
        }
    }

    /// Sends a guest of the pool the number of its processors and its grace as a used machine. The reply also
    /// proves that the guest is there. Close the result.
    Guest.Setup startSetup(Launched launched, Limits limits) {
        Duration grace = times.orphanGrace();
        return launched.guest().startSetup(limits.visibleCpus(), MachineSpec.seconds(grace));
    }

    /// Like [#startSetup] for a machine of an earlier server, which may have had another grace and may have reduced
    /// the processors of the machine. Waits for the reply.
    void setUp(Launched launched, Limits limits) {
        launched.machine().limit(limits);
        launched.machine().orphanGrace(times.orphanGrace());
        try (var setup = startSetup(launched, limits)) {
            setup.await();
        }
    }
}
