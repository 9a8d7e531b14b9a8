package dev.vivarium.core.sandbox;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.vivarium.core.Undo;
import dev.vivarium.core.provider.Machine;
import dev.vivarium.core.provider.Provider.Disk;
import dev.vivarium.core.sandbox.Launch.Launched;
import dev.vivarium.core.store.SandboxRow;
import dev.vivarium.core.store.SandboxRow.Phase;
import dev.vivarium.model.Egress;
import dev.vivarium.model.Limits;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Pool of started machines without an owner, each with a connected guest. Each is handed out once. Thread-safe.
final class Pool {
    private static final Logger LOG = LoggerFactory.getLogger(Pool.class);
    private static final int FILLERS = 2;
    private static final Duration ADOPTION = Duration.ofSeconds(5);
    private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);
    private static final Duration CLOSE = Duration.ofSeconds(10);

    private final Engine engine;
    private final Launch launch;
    private final OrphanCleanup leftovers;
    private final Capacity capacity;
    private final Object lock = new Object();

    @GuardedBy("lock")
    private final Deque<Warm> ready = new ArrayDeque<>();

    @GuardedBy("lock")
    private int fillers;

    @GuardedBy("lock")
    private Duration pause = FIRST_PAUSE;

    @GuardedBy("lock")
    private long notBeforeNanos;

    Pool(Engine engine, Launch launch, OrphanCleanup leftovers, Capacity capacity) {
        this.engine = engine;
        this.launch = launch;
        this.leftovers = leftovers;
        this.capacity = capacity;
        this.notBeforeNanos = engine.timeSource.nanos();
    }

    /// Machine without an owner, and its row.
    record Warm(SandboxRow row, Launched launched) {
        /// Reports whether the guest is connected, since the stream ends with the machine. The assignment of an
        /// owner sends a request to the guest, so the processes need no check here.
        boolean isConnected() {
            return launched.guest().isOpen();
        }
    }

    int available() {
        synchronized (lock) {
            return ready.size();
        }
    }

    /// Takes a live machine that supports these limits, if any. The caller must assign an owner or call [#discard].
    Optional<Warm> take(Limits limits) {
        if (limits.diskBytes() != engine.config.limits().diskBytes()) {
            return Optional.empty(); // The size of a disk cannot change.
        }
        try {
            while (true) {
                Warm warm;
                synchronized (lock) {
                    warm = ready.pollFirst();
                }
                if (warm == null) {
                    return Optional.empty();
                }
                capacity.leavePool();
                if (warm.isConnected()) {
                    return Optional.of(warm);
                }
                discardLater(warm);
            }
        } finally {
            if (isLow()) {
                refill();
            }
        }
    }

    /// A pool that is at least half full waits for its regular refill, because a start now takes processor time
    /// from the first command of the new sandbox.
    private boolean isLow() {
        synchronized (lock) {
            return ready.size() * 2 < engine.config.room().poolSize();
        }
    }

    /// Removes one machine to make room for a sandbox that cannot use a machine of the pool.
    void evict() {
        Warm warm;
        synchronized (lock) {
            warm = ready.pollLast();
        }
        if (warm != null) {
            capacity.leavePool();
            discardLater(warm);
        }
    }

    /// Removes a machine that was taken. It is never handed out.
    void discard(Warm warm) {
        warm.launched().guest().close();
        forget(warm.row().id());
    }

    private void discardLater(Warm warm) {
        engine.tasks.start("discard-" + warm.row().id(), () -> discard(warm));
    }

    /// Removes every waiting machine, in parallel. The engine must be draining without running tasks, so that no
    /// machine is added. If a removal takes too long, the machine exits by itself, or the next server removes it.
    void close() {
        List<Warm> unused;
        synchronized (lock) {
            unused = List.copyOf(ready);
            ready.clear();
        }
        var workers = Executors.newVirtualThreadPerTaskExecutor();
        unused.forEach(warm -> workers.execute(() -> discard(warm)));
        workers.shutdown();
        try {
            if (!workers.awaitTermination(CLOSE.toMillis(), TimeUnit.MILLISECONDS)) {
                LOG.warn("unused machines are left: removing them took longer than {} s", CLOSE.toSeconds());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /// Removes a machine without an owner, then its row. In the other order, a remaining disk looks like a disk
    /// with a lost row.
    void forget(SandboxId id) {
        leftovers.clear(id);
    }

    /// Starts machines in the background until the pool is full, the capacity is used, or a start fails.
    void refill() {
        if (engine.tasks.isDraining()) {
            return;
        }
        synchronized (lock) {
            boolean waiting = engine.timeSource.nanos() - notBeforeNanos < 0;
            while (!waiting && fillers < FILLERS && capacity.enterPool()) {
                fillers++;
                engine.tasks.start("pool-filler-" + fillers, this::fill);
            }
        }
    }

    private void fill() {
        try {
            do {
                fillOne();
            } while (!engine.tasks.isDraining() && capacity.enterPool());
        } catch (SandboxException e) {
            engine.listeners.call(listener -> listener.poolStartFailed(e.failure()));
        } finally {
            synchronized (lock) {
                fillers--;
            }
        }
    }

    /// Starts one machine. The caller has taken its place in the pool; a failed start releases the place.
    private void fillOne() {
        SandboxRow row = newRow();
        try (var undo = new Undo()) {
            undo.add("count " + row.id() + " as failed", this::failed);
            engine.registry.claim(row.id());
            undo.add("forget " + row.id(), () -> forget(row.id()));
            engine.rows.insert(row);
            Launched launched = engine.registry.exclusively(row.id(), () -> launch.start(row, Disk.ERASE));
            undo.add("close the stream of " + row.id(), launched.guest()::close);
            engine.rows.phase(row.id(), Phase.POOLED);
            add(new Warm(row.withPhase(Phase.POOLED), launched));
            undo.keep();
        }
    }

    private void add(Warm warm) {
        synchronized (lock) {
            pause = FIRST_PAUSE;
            ready.addLast(warm);
        }
        SandboxId id = warm.row().id();
        warm.launched().guest().onLost(() -> engine.tasks.start("lost-" + id, () -> lost(warm)));
    }

    private void failed() {
        capacity.leavePool();
        synchronized (lock) {
            notBeforeNanos = engine.timeSource.nanos() + pause.toNanos();
            Duration doubled = pause.multipliedBy(2);
            pause = doubled.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : doubled;
        }
    }

    /// Removes a waiting machine whose stream broke.
    private void lost(Warm warm) {
        boolean waiting;
        synchronized (lock) {
            waiting = !engine.tasks.isDraining() && ready.remove(warm);
        }
        if (waiting) {
            capacity.leavePool();
            discard(warm);
            refill();
        }
    }

    /// Adds a machine from the pool of an earlier server, if it lives; removes it otherwise. The caller has taken
    /// its place in the pool.
    void adopt(SandboxRow row) {
        try (var undo = new Undo()) {
            undo.add("give back its place", capacity::leavePool);
            undo.add("forget " + row.id(), () -> forget(row.id()));
            Optional<Machine> machine = engine.provider.adopt(row.id(), ADOPTION);
            // If the store was restored from a backup, the row can be older than the assignment of the machine.
            if (machine.isPresent() && engine.inventory.trace(row.id()).isUnused()) {
                var guest = launch.connect(machine.get(), row.secret(), ADOPTION);
                add(new Warm(row, new Launched(machine.get(), guest)));
                undo.keep();
            }
        }
    }

    private SandboxRow newRow() {
        Instant now = engine.timeSource.now();
        return new SandboxRow(
                engine.timeSource.newId(),
                Optional.empty(),
                Phase.CREATING,
                engine.config.image(),
                engine.timeSource.newSecret(),
                engine.config.limits(),
                Map.of(),
                Egress.NONE,
                engine.config.times().idle(),
                engine.config.times().onIdle(),
                now,
                now,
                now.plus(engine.config.times().lifetime()),
                Optional.empty());
    }
}
