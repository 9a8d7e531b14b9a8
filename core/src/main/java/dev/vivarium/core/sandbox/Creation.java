package dev.vivarium.core.sandbox;

import dev.vivarium.core.Undo;
import dev.vivarium.core.guest.Guest;
import dev.vivarium.core.provider.Machine;
import dev.vivarium.core.provider.Provider.Disk;
import dev.vivarium.core.sandbox.Launch.Launched;
import dev.vivarium.core.sandbox.Lifecycle.Move;
import dev.vivarium.core.store.SandboxRow;
import dev.vivarium.core.store.SandboxRow.Owner;
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
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/// Creation of a sandbox for a thread: with a machine of the pool, or by a cold start. Thread-safe.
///
/// The number of concurrent cold starts is limited, because more at once make all of them slower. Requests are served
/// in order.
final class Creation {
    private static final int COLD_STARTS = 4;
    private static final Duration QUEUE = Duration.ofSeconds(30);
    private static final Duration LONGEST_RETRY = Duration.ofSeconds(30);

    private final Engine engine;
    private final Launch launch;
    private final GuestConnections connections;
    private final Termination termination;
    private final Ownership ownership;
    private final Capacity capacity;
    private final Pool pool;
    private final Semaphore coldStarts = new Semaphore(COLD_STARTS, true);

    Creation(
            Engine engine,
            Launch launch,
            GuestConnections connections,
            Termination termination,
            Ownership ownership,
            Capacity capacity,
            Pool pool) {
        this.engine = engine;
        this.launch = launch;
        this.connections = connections;
        this.termination = termination;
        this.ownership = ownership;
        this.capacity = capacity;
        this.pool = pool;
    }

    /// Creates a sandbox and assigns it to its thread.
    Sandbox create(CreateRequest order) {
        long began = engine.timeSource.nanos();
        long diskBytes = limits(order.request()).diskBytes();
        Capacity.Entry entry = enter(diskBytes);
        Optional<Prepared> warm;
        try {
            warm = prepare(order, entry);
        } catch (RuntimeException e) {
            capacity.leave(diskBytes);
            throw e;
        }
        // From here on, other threads can find the sandbox, and its end releases its place.
        Sandbox sandbox = warm.isPresent() ? handOut(warm.get()) : coldStart(order);
        SandboxListener.Origin origin = warm.isPresent() ? SandboxListener.Origin.WARM : SandboxListener.Origin.COLD;
        Duration took = Duration.ofNanos(engine.timeSource.nanos() - began);
        engine.listeners.call(listener -> listener.created(sandbox.info(), origin, took));
        return sandbox;
    }

    private Capacity.Entry enter(long diskBytes) {
        engine.space.requireRoom("create a sandbox");
        Capacity.Entry entry = capacity.enter(diskBytes);
        if (entry == Capacity.Entry.FULL) {
            throw new SandboxException(new Failure.AtCapacity(capacity.limit(), retryAfter()));
        }
        if (entry == Capacity.Entry.OVERCOMMITTED) {
            throw new SandboxException(engine.space.overcommitted(diskBytes, capacity.promisedDiskBytes()));
        }
        return entry;
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
        requireOwner(order.request());
        if (entry == Capacity.Entry.ENTERED_BY_EVICTION) {
            pool.evict();
        }
        awaitColdStart();
        try (var undo = new Undo()) {
            undo.add("give way to the next cold start", coldStarts::release);
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
                if (!handOut(row, warm, undo)) {
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

    /// Assigns the machine to its owner. Returns false if it is no longer in the pool. If the thread belongs to
    /// another user, the call fails and the machine stays in the pool.
    private boolean handOut(SandboxRow row, Pool.Warm warm, Undo undo) {
        try {
            boolean isTheirs = engine.rows.handOut(row);
            if (isTheirs) {
                End end = failedToStart("it died in the pool");
                undo.add("end " + row.id(), () -> engine.rows.end(row.id(), Phase.FAILED, end));
            }
            return isTheirs;
        } catch (SandboxException e) {
            if (e.failure() instanceof Failure.NoSandboxForThread) {
                undo.keep();
                pool.giveBack(warm);
            }
            throw e;
        }
    }

    private Sandbox handOut(Prepared prepared) {
        var sandbox = new Sandbox(engine, connections, prepared.row(), new State.Creating());
        engine.registry.add(sandbox);
        run(sandbox, prepared.launched());
        return sandbox;
    }

    private Sandbox coldStart(CreateRequest order) {
        SandboxRow row = row(order.request(), Phase.RUNNING, Optional.empty());
        engine.registry.claim(row.id());
        var sandbox = new Sandbox(engine, connections, row, new State.Creating());
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
            coldStarts.release();
        }
    }

    /// Starts a machine while its row is written. If the server dies in between, a machine without a row is still
    /// marked as unused and is removed, and a row without a machine is recovered from an empty disk.
    private Launched launchWhileWriting(Sandbox sandbox, CreateRequest order) {
        SandboxRow row = sandbox.row();
        var written = new FutureTask<>(() -> engine.rows.insert(row), row);
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
        Optional<Move> begun = sandbox.lifecycle().tryBegin(Transition.START, QUEUE);
        boolean started = false;
        if (begun.isPresent()) {
            try (Move move = begun.get()) {
                engine.registry.assign(sandbox);
                started = move.to(new State.Running(machine, guest));
            }
        }
        if (!started) {
            engine.registry.unassign(sandbox);
            throw sandbox.overtaken();
        }
        connections.attach(sandbox, machine, guest);
        ownership.labelLater(sandbox);
    }

    /// Rejects another user before a machine is started. The store also rejects the request.
    private void requireOwner(NewSandbox request) {
        Optional<UserId> owner = engine.rows.ownerOf(request.thread());
        if (owner.isPresent() && !owner.get().equals(request.user())) {
            throw new SandboxException(new Failure.NoSandboxForThread(request.thread()));
        }
    }

    private void awaitColdStart() {
        try {
            if (!coldStarts.tryAcquire(QUEUE.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new SandboxException(new Failure.AtCapacity(capacity.limit(), Duration.ofSeconds(1)));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SandboxException(new Failure.ShuttingDown());
        }
    }

    /// Time until the first of the present sandboxes can end.
    private Duration retryAfter() {
        Duration first = LONGEST_RETRY;
        for (Sandbox sandbox : engine.registry.all()) {
            Duration remaining = sandbox.lease().remaining();
            first = remaining.compareTo(first) < 0 ? remaining : first;
        }
        return Duration.ofSeconds(Math.max(1, first.toSeconds()));
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
                Optional.of(new Owner(request.thread(), request.user())),
                phase,
                image(request),
                pooled.map(SandboxRow::secret).orElseGet(engine.timeSource::newSecret),
                limits(request),
                request.env(),
                request.egress().orElse(engine.config.egress().standard()),
                request.idleTimeout().orElse(engine.config.times().idle()),
                now,
                now,
                now.plus(engine.config.times().lifetime()),
                Optional.empty());
    }

    private End failedToStart(String why) {
        return new End(End.Cause.SERVER, why, engine.timeSource.now());
    }
}
