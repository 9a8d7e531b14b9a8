package dev.vivarium.core.sandbox;

import dev.vivarium.core.ByteBudget;
import dev.vivarium.core.Scheduler;
import dev.vivarium.core.Undo;
import dev.vivarium.core.egress.EgressProxy;
import dev.vivarium.core.guest.Guest;
import dev.vivarium.core.guest.GuestLoop;
import dev.vivarium.core.inside.ControlPorts;
import dev.vivarium.core.provider.Provider;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.DiskOrigins;
import dev.vivarium.core.store.SandboxRow;
import dev.vivarium.core.store.SnapshotRows;
import dev.vivarium.model.Egress;
import dev.vivarium.model.End;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Limits;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.SnapshotInfo;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.ThreadKey;
import dev.vivarium.model.UserId;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;

/// All sandboxes of one server, by thread. Thread-safe.
///
/// A thread has at most one sandbox at a time. Threads of the same name of two users are two threads. Machines outlive
/// this object: [#close] leaves them running, and the next [#open] on the same store recovers them.
public final class Sandboxes implements AutoCloseable {
    /// Maximum wait for another caller that creates the same sandbox.
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    /// A disk with less free space counts as full.
    public static final long MIN_FREE_BYTES = 1024L * 1024;

    private static final Duration REAP_EVERY = Duration.ofSeconds(1);
    private static final Duration LABEL_EVERY = Duration.ofMillis(500);
    private static final Duration FLUSH_EVERY = Duration.ofSeconds(5);

    private final Engine engine;
    private final ByteBudget memory;
    private final GuestLoop loop;
    private final EgressProxy egressProxy;
    private final ControlPorts controlPorts;
    private final Capacity capacity;
    private final Termination termination;
    private final EndedSandboxes ended;
    private final Pool pool;
    private final Creation creation;
    private final Reaper reaper;
    private final Reconciler reconciler;
    private final Snapshots snapshots;
    private final ActivityWriter activity;
    private final Ownership ownership;
    private final Scheduler.Jobs jobs;
    private final DiskGuard diskGuard;
    private final Map<ThreadKey, CompletableFuture<Sandbox>> beingCreated = new ConcurrentHashMap<>();

    private Sandboxes(Engine engine, Db db, Undo undo) {
        this.engine = engine;
        this.memory = new ByteBudget(engine.config.maxBytesInFlight());
        this.loop = undo.add(GuestLoop.start(memory));
        this.egressProxy = undo.add(new EgressProxy(engine.config.egress()));
        this.controlPorts = new ControlPorts(engine.rows.controlPortNumbers());
        undo.add(engine.tasks);
        undo.add("start to drain", engine.tasks::startDraining);
        this.capacity =
                new Capacity(engine.config.room(), engine.config.limits().diskBytes(), engine.space);
        this.termination = new Termination(engine, capacity);
        this.ended = new EndedSandboxes(engine.rows, termination);
        var leftovers = orphanCleanup(engine, termination);
        this.ownership = new Ownership(engine.inventory, engine.store);
        var launch = new Launch(engine.provider, loop, engine.store, engine.config.times());
        var connections =
                new GuestConnections(engine.tasks, engine.listeners, egressProxy, controlPorts, launch, termination);
        this.pool = new Pool(engine, launch, leftovers, capacity);
        var coldStarts = new ColdStarts(engine, capacity);
        var restart = new Restart(engine, launch);
        var hibernation = new Hibernation(engine, restart, connections, termination, coldStarts, pool);
        var parts = new MachineOperations(engine, launch, connections, termination, hibernation);
        this.creation = new Creation(parts, ownership, capacity, coldStarts, pool);
        this.reaper = new Reaper(engine, termination, hibernation);
        this.reconciler = new Reconciler(engine, termination, leftovers);
        this.activity = new ActivityWriter(engine.registry, engine.rows);
        var recovery = new Recovery(parts, restart, leftovers, ownership, capacity, pool);
        this.snapshots =
                new Snapshots(engine, new SnapshotRows(db), new DiskOrigins(db), restart, connections, recovery);
        snapshots.restoreKnownOrphans();
        engine.tasks.start("label-snapshots", snapshots::labelAll);
        recovery.start();
        this.diskGuard = new DiskGuard(engine.provider, engine.registry, engine.space, engine.tasks);
        this.jobs = engine.timeSource.scheduler().jobs();
    }

    private static OrphanCleanup orphanCleanup(Engine engine, Termination termination) {
        return new OrphanCleanup(
                engine.provider,
                engine.rows,
                engine.registry,
                engine.timeSource,
                engine.config.times().keepOrphans(),
                termination);
    }

    private void start() {
        Duration reconcileEvery = engine.config.times().reconcileEvery();
        var probe = new LivenessProbe(engine.registry, engine.tasks);
        diskGuard.start();
        jobs.every(Duration.ZERO, REAP_EVERY, "reaper", reaper::runOnce)
                .every(Duration.ZERO, REAP_EVERY, "unstored ends", termination::settle)
                .every(Duration.ZERO, REAP_EVERY, "pool", pool::refill)
                .every(Duration.ZERO, FLUSH_EVERY, "activity", activity::flush)
                .every(Duration.ZERO, LABEL_EVERY, "labels", ownership::flush)
                .every(Duration.ZERO, LivenessProbe.EVERY, "liveness probe", probe::runOnce)
                .every(Duration.ZERO, reconcileEvery, "reconciler", reconciler::runOnce)
                .every(Duration.ZERO, reconcileEvery, "snapshots", snapshots::reconcile);
    }

    /// Opens the sandboxes that `db` contains and recovers their machines in the background. The caller closes the
    /// provider and the database after this object.
    ///
    /// @param listeners called in this order on every event
    public static Sandboxes open(
            Provider provider, Db db, SandboxesConfig config, List<SandboxListener> listeners, Scheduler scheduler) {
        return open(provider, db, config, listeners, TimeSource.of(scheduler));
    }

    static Sandboxes open(
            Provider provider, Db db, SandboxesConfig config, List<SandboxListener> listeners, TimeSource timeSource) {
        var engine = new Engine(provider, db, config, listeners, timeSource);
        try (var undo = new Undo()) {
            var sandboxes = new Sandboxes(engine, db, undo);
            undo.keep();
            sandboxes.start();
            return sandboxes;
        }
    }

    /// Returns the sandbox of the thread, and creates it or starts it again if needed. Concurrent calls for one
    /// thread create one sandbox. Fails with `AtCapacity` if the capacity is used.
    public OpenResult open(NewSandbox request) {
        engine.tasks.refuseWhileDraining();
        check(request);
        try {
            while (true) {
                Optional<OpenResult> opened = tryOpen(request);
                if (opened.isPresent()) {
                    return opened.get();
                }
            }
        } catch (SandboxException e) {
            engine.listeners.call(listener -> listener.refused(e.failure()));
            throw e;
        }
    }

    /// Empty if the sandbox ended before it could be returned.
    private Optional<OpenResult> tryOpen(NewSandbox request) {
        Optional<Sandbox> existing = find(request.key());
        if (existing.isPresent()) {
            return Optional.of(reuse(existing.get()));
        }
        var mine = new CompletableFuture<Sandbox>();
        CompletableFuture<Sandbox> others = beingCreated.putIfAbsent(request.key(), mine);
        if (others != null) {
            Sandbox sandbox = await(others, request.thread());
            boolean ended = sandbox.info().end().isPresent();
            return ended ? Optional.empty() : Optional.of(reuse(sandbox));
        }
        return create(CreateRequest.empty(request), mine).map(made -> new OpenResult(made, OpenResult.Outcome.CREATED));
    }

    /// Creates a sandbox; `mine` represents the creation for its thread. Empty if another caller created it first.
    private Optional<Sandbox> create(CreateRequest order, CompletableFuture<Sandbox> mine) {
        ThreadKey key = order.request().key();
        try {
            Optional<Sandbox> finished = engine.registry.find(key);
            if (finished.isPresent()) {
                mine.complete(finished.get());
                return Optional.empty();
            }
            Sandbox sandbox = creation.create(order);
            mine.complete(sandbox);
            return Optional.of(sandbox);
        } catch (RuntimeException e) {
            mine.completeExceptionally(e);
            throw e;
        } finally {
            beingCreated.remove(key, mine);
        }
    }

    /// Creates a sandbox with the files of a snapshot, for a thread without a sandbox. The disk has the size of the
    /// snapshot. Fails with `ThreadHasSandbox` if the thread has a sandbox.
    public Sandbox fork(NewSandbox request, SnapshotInfo from) {
        engine.tasks.refuseWhileDraining();
        check(request);
        if (find(request.key()).isPresent()) {
            throw new SandboxException(new Failure.ThreadHasSandbox(request.thread()));
        }
        Limits limits = request.limits().orElse(engine.config.limits());
        var sized = new Limits(limits.memoryBytes(), limits.cpus(), limits.processes(), from.diskBytes());
        var mine = new CompletableFuture<Sandbox>();
        try (var _ = snapshots.use(from)) {
            if (beingCreated.putIfAbsent(request.key(), mine) != null) {
                throw new SandboxException(new Failure.ThreadHasSandbox(request.thread()));
            }
            return create(new CreateRequest(request.withLimits(sized), Optional.of(from.id())), mine)
                    .orElseThrow(() -> new SandboxException(new Failure.ThreadHasSandbox(request.thread())));
        }
    }

    private void check(NewSandbox request) {
        request.egress().ifPresent(engine.config.egress()::require);
        request.image().ifPresent(engine.provider::requireImage);
    }

    private OpenResult reuse(Sandbox sandbox) {
        sandbox.touch();
        engine.listeners.call(listener -> listener.reused(sandbox.info()));
        return new OpenResult(sandbox, OpenResult.Outcome.EXISTING);
    }

    private static Sandbox await(CompletableFuture<Sandbox> creation, ThreadId thread) {
        try {
            return creation.get(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof SandboxException failed) {
                throw new SandboxException(failed.failure(), failed);
            }
            throw new IllegalStateException("creating the sandbox of thread " + thread + " failed", e.getCause());
        } catch (TimeoutException e) {
            String why = "another call has been creating it for " + TIMEOUT.toSeconds() + " s";
            throw new SandboxException(new Failure.ProviderFailed("creating the sandbox", why), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SandboxException(new Failure.ShuttingDown(), e);
        }
    }

    /// The live sandbox of the thread, if any. Waits for a recovery in progress.
    public Optional<Sandbox> find(ThreadKey key) {
        return engine.registry.find(key).filter(this::isUsable);
    }

    /// The live sandbox with this id, if any. Waits for a recovery in progress.
    public Optional<Sandbox> find(SandboxId id) {
        return engine.registry.find(id).filter(this::isUsable);
    }

    /// Reports whether the thread was ever used.
    public boolean hasThread(ThreadKey key) {
        return engine.registry.find(key).isPresent() || engine.rows.hasThread(key);
    }

    /// The users who have a thread of this name, ordered by name.
    public List<UserId> ownersOf(ThreadId thread) {
        return engine.rows.ownersOf(thread);
    }

    /// Owner of a live or ended sandbox, while the store has its row.
    public Optional<ThreadKey> ownerOf(SandboxId id) {
        return engine.registry
                .find(id)
                .map(Sandbox::owner)
                .or(() -> engine.rows.find(id).flatMap(SandboxRow::owner));
    }

    /// Owner of an ended sandbox, while the store has its row.
    public Optional<UserId> endedOwner(SandboxId id) {
        return find(id).isPresent() ? Optional.empty() : ended.ownerOf(id);
    }

    /// Information about an ended sandbox.
    public Optional<SandboxInfo> findEnded(SandboxId id) {
        return ended.find(id);
    }

    /// End of the last sandbox of a thread.
    public Optional<End> lastEnd(ThreadKey thread) {
        return ended.lastOf(thread);
    }

    /// The sandboxes that ended last, newest first; filtered by user, if present.
    public List<SandboxInfo> newestEnded(Optional<UserId> user, int limit) {
        return ended.newest(user, limit);
    }

    /// The sandbox of the thread. Fails with `NoSandboxForThread`.
    public Sandbox require(ThreadKey key) {
        return find(key).orElseThrow(() -> new SandboxException(new Failure.NoSandboxForThread(key.thread())));
    }

    /// The sandbox with this id. Fails with `NoSuchSandbox`, which contains the end of an ended sandbox.
    public Sandbox require(SandboxId id) {
        return require(id, _ -> true);
    }

    /// The sandbox with this id, if `mine` accepts its user. For another user, it fails as if the id never existed,
    /// without its end.
    public Sandbox require(SandboxId id, Predicate<UserId> mine) {
        return engine.registry
                .find(id)
                .filter(sandbox -> mine.test(sandbox.owner().user()))
                .filter(this::isUsable)
                .orElseThrow(() -> new SandboxException(new Failure.NoSuchSandbox(id.value(), ended.endOf(id, mine))));
    }

    /// Reports whether a sandbox is usable. If its lease is over, ends it without waiting for the reaper.
    private boolean isUsable(Sandbox sandbox) {
        sandbox.awaitFound();
        if (reaper.mustEnd(sandbox)) {
            reaper.reapIfIdle(sandbox);
        }
        return sandbox.info().end().isEmpty();
    }

    /// Budget for bytes of unfinished work.
    public ByteBudget memory() {
        return memory;
    }

    /// Live sandboxes of threads, oldest first.
    public List<SandboxInfo> list() {
        return engine.registry.all().stream()
                .map(Sandbox::info)
                .filter(info -> info.end().isEmpty())
                .sorted(Comparator.comparing(SandboxInfo::createdAt)
                        .thenComparing(info -> info.id().value()))
                .toList();
    }

    /// Ends a sandbox and waits for the removal of its machine. Its thread can create another sandbox at once. Does
    /// nothing for an ended or unknown id.
    public void terminate(SandboxId id, End.Cause cause, String detail) {
        engine.registry.find(id).ifPresent(sandbox -> {
            termination.end(sandbox, cause, detail);
            pool.refill();
        });
    }

    /// Changes the egress rules of a sandbox, permanently. Fails with `NotAllowed` if they exceed the rules of the
    /// server.
    public void allow(Sandbox sandbox, Egress list) {
        engine.tasks.refuseWhileDraining();
        engine.config.egress().require(list);
        sandbox.requireNotEnded();
        State state = sandbox.lifecycle().state();
        Optional<Guest> guest =
                state instanceof State.Running running ? Optional.of(running.guest()) : Optional.empty();
        sandbox.sandboxEgress().allow(list, guest, () -> engine.rows.egress(sandbox.id(), list));
    }

    /// Keeps a sandbox until a time, even if it exceeds its lifetime by that. Never shortens its lifetime.
    public void keepUntil(Sandbox sandbox, Instant time) {
        if (time.isAfter(sandbox.lease().endsAt())) {
            engine.rows.endsAt(sandbox.id(), time);
            sandbox.lease().endAt(time);
        }
    }

    /// Returns a request for a sandbox with the options of this one, live or ended, while the store has its row.
    public Optional<NewSandbox> requestOf(SandboxId id) {
        return engine.rows
                .find(id)
                .flatMap(row -> row.owner()
                        .map(owner -> new NewSandbox(
                                owner.user(),
                                owner.thread(),
                                Optional.of(row.idleTimeout()),
                                Optional.of(row.limits()),
                                row.env(),
                                Optional.of(row.egress()),
                                Optional.of(row.image()),
                                Optional.of(row.onIdle()))));
    }

    /// Reports whether the disk of a sandbox is full, so that no worker can start on it. False if the guest does
    /// not respond.
    public boolean hasFullDisk(Sandbox sandbox) {
        try {
            return sandbox.stats().diskFree() < MIN_FREE_BYTES;
        } catch (SandboxException e) {
            return false;
        }
    }

    public ControlPorts controlPorts() {
        return controlPorts;
    }

    /// Snapshots of the disks of threads.
    public Snapshots snapshots() {
        return snapshots;
    }

    /// Returns the usage of each user.
    public UserQuotas quotas() {
        return engine.quotas;
    }

    public PoolStatus pool() {
        int hibernated = (int) engine.registry.all().stream()
                .filter(sandbox -> sandbox.lifecycle().state() instanceof State.Hibernated)
                .count();
        return new PoolStatus(
                engine.config.room().poolSize(), pool.available(), capacity.active(), hibernated, capacity.limit());
    }

    /// Free space of the home.
    public DiskSpace diskSpace() {
        return engine.space;
    }

    /// Reports whether the guest loop replies within `timeout`.
    public boolean isGuestLoopResponsive(Duration timeout) {
        return loop.isResponsive(timeout);
    }

    public Reconciliation reconciliation() {
        return reconciler.counts();
    }

    /// Rejects new work, saves pending state, removes unused machines and disconnects the guests. Machines in use
    /// continue. Idempotent.
    public void drain() {
        if (engine.tasks.isDraining()) {
            return;
        }
        engine.tasks.startDraining();
        jobs.close();
        diskGuard.close();
        engine.tasks.close();
        try (var undo = new Undo()) {
            // Both steps, even if the first fails: a failed store must not keep the streams open.
            undo.add("close the way out", egressProxy::close);
            undo.add("close the streams", loop::close);
            undo.add("write the labels of new sandboxes", ownership::flush);
            undo.add("save when sandboxes were last used", activity::flush);
            undo.add("remove the machines of the pool", pool::close);
        }
    }

    /// Calls [#drain].
    @Override
    public void close() {
        drain();
    }
}
