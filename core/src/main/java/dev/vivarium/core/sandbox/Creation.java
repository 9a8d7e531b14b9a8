package dev.vivarium.core.sandbox;

import dev.vivarium.core.Undo;
import dev.vivarium.core.guest.Guest;
import dev.vivarium.core.provider.Machine;
import dev.vivarium.core.provider.Provider.Disk;
import dev.vivarium.core.sandbox.Launch.Launched;
import dev.vivarium.core.sandbox.Lifecycle.PendingTransition;
import dev.vivarium.core.store.SandboxRow;
import dev.vivarium.core.store.SandboxRow.Phase;
import dev.vivarium.model.End;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Limits;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.UserId;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;

/// Creation of a sandbox for a thread: with a machine of the pool, or by a cold start. Thread-safe.
final class Creation {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private final MachineOperations parts;
    private final Engine engine;
    private final Launch launch;
    private final Termination termination;
    private final Ownership ownership;
    private final Capacity capacity;
    private final ColdStarts coldStarts;
    private final Pool pool;

    Creation(MachineOperations parts, Ownership ownership, Capacity capacity, ColdStarts coldStarts, Pool pool) {
        this.parts = parts;
        this.engine = parts.engine();
        this.launch = parts.launch();
        this.termination = parts.termination();
        this.ownership = ownership;
        this.capacity = capacity;
        this.coldStarts = coldStarts;
        this.pool = pool;
    }

    /// Creates a sandbox and assigns it to its thread.
    Sandbox create(CreateRequest order) {
        long began = engine.timeSource.nanos();
        long diskBytes = limits(order.request()).diskBytes();
        Capacity.Entry entry = enter(order.request().user(), diskBytes);
        Optional<Prepared> warm;
        try {
            warm = prepare(order, entry);
        } catch (RuntimeException e) {
            capacity.leave(diskBytes);
            engine.quotas.count(order.request().user(), -1, -diskBytes);
            throw e;
        }
        // From here on, other threads can find the sandbox, and its end releases its place.
        Sandbox sandbox = warm.isPresent() ? handOut(warm.get()) : coldStart(order);
        SandboxListener.Origin origin = warm.isPresent() ? SandboxListener.Origin.WARM : SandboxListener.Origin.COLD;
        Duration took = Duration.ofNanos(engine.timeSource.nanos() - began);
        engine.listeners.call(listener -> listener.created(sandbox.info(), origin, took));
        return sandbox;
    }

    private Capacity.Entry enter(UserId user, long diskBytes) {
        engine.quotas.enter(user, diskBytes);
        try (var undo = new Undo()) {
            undo.add("leave the quota", () -> engine.quotas.count(user, -1, -diskBytes));
            Capacity.Entry entry = coldStarts.reserve(diskBytes, "create a sandbox");
            undo.keep();
            return entry;
        }
    }

    /// Machine of the pool with an owner.
    private record Prepared(SandboxRow row, Launched launched) {}

    /// Takes a machine of the pool, or returns an empty value and the permit for a cold start. After the wait for a
    /// permit, the pool may have a machine.
    private Optional<Prepared> prepare(CreateRequest order, Capacity.Entry entry) {
        Optional<Prepared> warm = fromPool(order);
        if (warm.isPresent()) {
            return warm;
        }
        if (entry == Capacity.Entry.ENTERED_BY_EVICTION) {
            pool.evict();
        }
        coldStarts.awaitTurn();
        try (var undo = new Undo()) {
            undo.add("give way to the next cold start", coldStarts::endTurn);
            warm = fromPool(order);
            if (warm.isEmpty()) {
                undo.keep();
            }
            return warm;
        }
    }

    private Optional<Prepared> fromPool(CreateRequest order) {
        NewSandbox request = order.request();
        while (order.from().isEmpty() && image(request).equals(engine.config.image())) {
            Optional<Pool.Warm> taken = pool.take(limits(request));
            if (taken.isEmpty()) {
                return Optional.empty();
            }
            Optional<Prepared> prepared = assignOwner(taken.get(), request);
            if (prepared.isPresent()) {
                return prepared;
            }
        }
        return Optional.empty(); // A machine of the pool already has its disk and its root.
    }

    /// Gives a machine of the pool its owner, limits and environment. Returns an empty value if the machine died;
    /// the caller then tries the next machine.
    private Optional<Prepared> assignOwner(Pool.Warm warm, NewSandbox request) {
        SandboxRow row = row(request, Phase.RUNNING, Optional.of(warm.row()));
        Launched launched = warm.launched();
        try (var undo = new Undo()) {
            undo.add("discard " + row.id(), () -> pool.discard(warm));
            try (Guest.Setup setup = launch.startSetup(launched, row.limits())) {
                // The guest replies while the row is written.
                if (!handOut(row, undo)) {
                    return Optional.empty();
                }
                engine.inventory.recordUse(row.id());
                setup.await();
            }
            if (!warm.row().limits().equals(row.limits())) {
                launched.machine().limit(row.limits());
            }
            undo.keep();
            return Optional.of(new Prepared(row, launched));
        } catch (SandboxException e) {
            if (e.failure().owner() == Failure.Owner.PLATFORM && !(e.failure() instanceof Failure.StoreFailed)) {
                return Optional.empty();
            }
            throw e;
        }
    }

    /// Assigns the machine to its owner. Returns false if it is no longer in the pool.
    private boolean handOut(SandboxRow row, Undo undo) {
        boolean isTheirs = engine.rows.handOut(row);
        if (isTheirs) {
            End end = failedToStart("it died in the pool");
            undo.add("end " + row.id(), () -> engine.rows.end(row.id(), Phase.FAILED, end));
        }
        return isTheirs;
    }

    private Sandbox handOut(Prepared prepared) {
        var sandbox = parts.sandbox(prepared.row(), new State.Creating());
        engine.registry.add(sandbox);
        run(sandbox, prepared.launched());
        return sandbox;
    }

    private Sandbox coldStart(CreateRequest order) {
        SandboxRow row = row(order.request(), Phase.RUNNING, Optional.empty());
        engine.registry.claim(row.id());
        var sandbox = parts.sandbox(row, new State.Creating());
        engine.registry.add(sandbox);
        try {
            Launched launched = launchWhileWriting(sandbox, order);
            try (var undo = new Undo()) {
                undo.add("close the stream of " + row.id(), launched.guest()::close);
                run(sandbox, launched);
                undo.keep();
            }
            return sandbox;
        } catch (RuntimeException e) {
            termination.endUnstarted(sandbox, "it could not be started: " + e.getMessage());
            throw e;
        } finally {
            coldStarts.endTurn();
        }
    }

    /// Starts a machine while its row is written. If the server dies in between, a machine without a row is still
    /// marked as unused and is removed, and a row without a machine is recovered from an empty disk.
    private Launched launchWhileWriting(Sandbox sandbox, CreateRequest order) {
        SandboxRow row = sandbox.row();
        var written = new FutureTask<>(() -> engine.rows.insert(row, order.from()), row);
        Thread.ofVirtual().name("row-" + row.id()).start(written);
        try (var undo = new Undo()) {
            undo.add("wait for the row of " + row.id(), () -> await(written));
            Launched launched = engine.registry.exclusively(row.id(), () -> {
                sandbox.requireNotEnded();
                order.from().ifPresent(snapshot -> engine.provider.restore(row.id(), snapshot));
                return launch.start(row, Disk.ERASE);
            });
            undo.add("close the stream of " + row.id(), launched.guest()::close);
            await(written);
            engine.inventory.recordUse(row.id());
            undo.keep();
            return launched;
        }
    }

    private static void await(Future<SandboxRow> written) {
        try {
            written.get();
        } catch (ExecutionException e) {
            throw e.getCause() instanceof SandboxException failure ? failure : new IllegalStateException(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SandboxException(new Failure.ShuttingDown());
        }
    }

    /// Sets a sandbox to `Running` and makes it available to its thread. Throws if the sandbox has ended.
    private void run(Sandbox sandbox, Launched launched) {
        Machine machine = launched.machine();
        Guest guest = launched.guest();
        Optional<PendingTransition> begun = sandbox.lifecycle().tryBegin(Transition.START, TIMEOUT);
        boolean started = false;
        if (begun.isPresent()) {
            try (PendingTransition pending = begun.get()) {
                engine.registry.assign(sandbox);
                started = pending.complete(new State.Running(machine, guest));
            }
        }
        if (!started) {
            engine.registry.unassign(sandbox);
            throw sandbox.superseded();
        }
        parts.connections().attach(sandbox, machine, guest);
        ownership.labelLater(sandbox);
    }

    private Limits limits(NewSandbox request) {
        return request.limits().orElse(engine.config.limits());
    }

    private String image(NewSandbox request) {
        return request.image().orElse(engine.config.image());
    }

    private SandboxRow row(NewSandbox request, Phase phase, Optional<SandboxRow> pooled) {
        Instant now = engine.timeSource.now();
        return new SandboxRow(
                pooled.map(SandboxRow::id).orElseGet(engine.timeSource::newId),
                Optional.of(request.key()),
                phase,
                image(request),
                pooled.map(SandboxRow::secret).orElseGet(engine.timeSource::newSecret),
                limits(request),
                request.env(),
                request.egress().orElse(engine.config.egress().standard()),
                request.idleTimeout().orElse(engine.config.times().idle()),
                request.onIdle().orElse(engine.config.times().onIdle()),
                now,
                now,
                now.plus(engine.config.times().lifetime()),
                Optional.empty());
    }

    private End failedToStart(String why) {
        return new End(End.Cause.SERVER, why, engine.timeSource.now());
    }
}
