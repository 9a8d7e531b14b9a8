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
import dev.vivarium.model.UserId;
import java.time.Duration;
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

/// All sandboxes of one server, found by thread. Thread-safe.
///
/// A thread has at most one sandbox at a time and belongs to the user who first used it. Machines outlive this object:
/// [#close] lets them go on, and the next [#open] on the same store finds them again.
public final class Sandboxes implements AutoCloseable {
    /// The longest that somebody else's creation of the same sandbox is waited for.
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private static final Duration REAP_EVERY = Duration.ofSeconds(1);
    private static final Duration LABEL_EVERY = Duration.ofMillis(500);
    private static final Duration FLUSH_EVERY = Duration.ofSeconds(5);

    private final Engine engine;
    private final ByteBudget memory;
    private final GuestLoop loop;
    private final EgressProxy egressProxy;
    private final ControlPorts controlPorts;
    private final Capacity capacity;
    private final Termination ending;
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
    private final Map<ThreadId, CompletableFuture<Sandbox>> beingCreated = new ConcurrentHashMap<>();

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
        this.ending = new Termination(engine, capacity);
        this.ended = new EndedSandboxes(engine.rows, ending);
        var leftovers = new OrphanCleanup(
                engine.provider,
                engine.rows,
                engine.registry,
                engine.timeSource,
                engine.config.times().keepOrphans(),
                ending);
        this.ownership = new Ownership(engine.inventory, engine.store);
        var launch = new Launch(engine.provider, loop, engine.store, engine.config.times());
        var streams = new GuestConnections(engine.tasks, engine.listeners, egressProxy, controlPorts, launch, ending);
        this.pool = new Pool(engine, launch, leftovers, capacity);
        this.creation = new Creation(engine, launch, streams, ending, ownership, capacity, pool);
        this.reaper = new Reaper(engine.registry, engine.tasks, ending);
        this.reconciler = new Reconciler(engine, ending, leftovers);
        this.activity = new ActivityWriter(engine.registry, engine.rows);
        var parts = new Recovery.Parts(engine, launch, streams, ending);
        var recovery = new Recovery(parts, leftovers, ownership, capacity, pool);
        this.snapshots = new Snapshots(engine, new SnapshotRows(db), new DiskOrigins(db), launch, streams, recovery);
        snapshots.takeBackKnown();
        engine.tasks.start("label-snapshots", snapshots::labelAll);
        recovery.start();
        this.diskGuard = new DiskGuard(engine.provider, engine.registry, engine.space, engine.tasks);
        this.jobs = engine.timeSource.scheduler().jobs();
    }

    private void start() {
        Duration reconcileEvery = engine.config.times().reconcileEvery();
        var probe = new LivenessProbe(engine.registry, engine.tasks);
        diskGuard.start();
        jobs.every(Duration.ZERO, REAP_EVERY, "reaper", reaper::beat)
                .every(Duration.ZERO, REAP_EVERY, "unstored ends", ending::settle)
                .every(Duration.ZERO, REAP_EVERY, "pool", pool::refill)
                .every(Duration.ZERO, FLUSH_EVERY, "activity", activity::flush)
                .every(Duration.ZERO, LABEL_EVERY, "labels", ownership::flush)
                .every(Duration.ZERO, LivenessProbe.EVERY, "liveness probe", probe::beat)
                .every(Duration.ZERO, reconcileEvery, "reconciler", reconciler::beat)
                .every(Duration.ZERO, reconcileEvery, "snapshots", snapshots::reconcile);
    }

    /// Opens the sandboxes that `db` contains and looks for their machines in the background. The caller closes the
    /// provider and the database after this object.
    ///
    /// @param listeners called in this order on every signal
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

    /// The thread's sandbox; made if it has none. Of several calls at once for one thread, one makes it. Fails with
    /// `NoSandboxForThread` when the thread is another user's, and with `AtCapacity` when there is no room.
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

    /// Nothing when what was found, or made by another caller, had ended before it could be given out.
    private Optional<OpenResult> tryOpen(NewSandbox request) {
        Optional<Sandbox> existing = find(request.thread());
        if (existing.isPresent()) {
            return Optional.of(reuse(existing.get(), request));
        }
        var mine = new CompletableFuture<Sandbox>();
        CompletableFuture<Sandbox> others = beingCreated.putIfAbsent(request.thread(), mine);
        if (others != null) {
            Sandbox sandbox = await(others, request.thread());
            boolean ended = sandbox.info().end().isPresent();
            return ended ? Optional.empty() : Optional.of(reuse(sandbox, request));
        }
        return create(CreateRequest.empty(request), mine).map(made -> new OpenResult(made, OpenResult.Outcome.CREATED));
    }

    /// Makes a sandbox for a thread whose creation `mine` stands for. Nothing when another caller has finished
    /// between the look and the claim.
    private Optional<Sandbox> create(CreateRequest order, CompletableFuture<Sandbox> mine) {
        ThreadId thread = order.request().thread();
        try {
            Optional<Sandbox> finished = engine.registry.find(thread);
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
            beingCreated.remove(thread, mine);
        }
    }

    /// Makes a sandbox with the files of a snapshot, for a thread that has none. Its disk has the snapshot's size.
    /// Fails with `NoSandboxForThread` when the thread is another user's, and with `ThreadHasSandbox` when it has
    /// one.
    public Sandbox fork(NewSandbox request, SnapshotInfo from) {
        engine.tasks.refuseWhileDraining();
        check(request);
        find(request.thread()).ifPresent(sandbox -> {
            throw taken(sandbox.owner().user(), request);
        });
        Limits limits = request.limits().orElse(engine.config.limits());
        var sized = new Limits(limits.memoryBytes(), limits.cpus(), limits.processes(), from.diskBytes());
        var mine = new CompletableFuture<Sandbox>();
        try (var _ = snapshots.use(from)) {
            if (beingCreated.putIfAbsent(request.thread(), mine) != null) {
                throw new SandboxException(new Failure.ThreadHasSandbox(request.thread()));
            }
            Sandbox forked = create(new CreateRequest(request.withLimits(sized), Optional.of(from.id())), mine)
                    .orElseThrow(() -> new SandboxException(new Failure.ThreadHasSandbox(request.thread())));
            snapshots.origins().forked(forked.id(), forked.thread(), from.id());
            return forked;
        }
    }

    private void check(NewSandbox request) {
        request.egress().ifPresent(engine.config.egress()::require);
        request.image().ifPresent(engine.provider::requireImage);
    }

    private static SandboxException taken(UserId owner, NewSandbox request) {
        return new SandboxException(
                owner.equals(request.user())
                        ? new Failure.ThreadHasSandbox(request.thread())
                        : new Failure.NoSandboxForThread(request.thread()));
    }

    private OpenResult reuse(Sandbox sandbox, NewSandbox request) {
        if (!sandbox.owner().user().equals(request.user())) {
            throw new SandboxException(new Failure.NoSandboxForThread(request.thread()));
        }
        sandbox.lease().touch();
        engine.listeners.call(listener -> listener.reused(sandbox.info()));
        return new OpenResult(sandbox, OpenResult.Outcome.EXISTING);
    }

    private static Sandbox await(CompletableFuture<Sandbox> creation, ThreadId thread) {
        try {
            return creation.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof SandboxException failed) {
                throw new SandboxException(failed.failure(), failed);
            }
            throw new IllegalStateException("creating the sandbox of thread " + thread + " failed", e.getCause());
        } catch (TimeoutException e) {
            String why = "another call has been creating it for " + PATIENCE.toSeconds() + " s";
            throw new SandboxException(new Failure.ProviderFailed("creating the sandbox", why), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SandboxException(new Failure.ShuttingDown(), e);
        }
    }

    /// The thread's sandbox, if it has one that lives. Waits for one that is being found again after a restart.
    public Optional<Sandbox> find(ThreadId thread) {
        return engine.registry.find(thread).filter(this::lives);
    }

    /// The sandbox with this id, if it lives. Waits like the other.
    public Optional<Sandbox> find(SandboxId id) {
        return engine.registry.find(id).filter(this::lives);
    }

    /// Whose a thread is, if anybody ever used it.
    public Optional<UserId> ownerOf(ThreadId thread) {
        return engine.registry
                .find(thread)
                .map(sandbox -> sandbox.owner().user())
                .or(() -> engine.rows.ownerOf(thread));
    }

    /// Whose a sandbox is or was, if it is still known.
    public Optional<SandboxRow.Owner> ownerOf(SandboxId id) {
        return engine.registry
                .find(id)
                .map(Sandbox::owner)
                .or(() -> engine.rows.find(id).flatMap(SandboxRow::owner));
    }

    /// Whose a sandbox was that has ended, if it is still known.
    public Optional<UserId> endedOwner(SandboxId id) {
        return find(id).isPresent() ? Optional.empty() : ended.ownerOf(id);
    }

    /// What is known of a sandbox that has ended.
    public Optional<SandboxInfo> findEnded(SandboxId id) {
        return ended.find(id);
    }

    /// What is known of those that ended last, newest first; of one user, if there is one.
    public List<SandboxInfo> newestEnded(Optional<UserId> user, int limit) {
        return ended.newest(user, limit);
    }

    /// The thread's sandbox. Fails with `NoSandboxForThread`.
    public Sandbox require(ThreadId thread) {
        return find(thread).orElseThrow(() -> new SandboxException(new Failure.NoSandboxForThread(thread)));
    }

    /// The sandbox with this id. Fails with `NoSuchSandbox`, which says how it ended if there was one.
    public Sandbox require(SandboxId id) {
        return require(id, _ -> true);
    }

    /// The sandbox with this id, if its user is one of `mine`. Somebody else's is as if it had never been: neither
    /// it nor its end is told.
    public Sandbox require(SandboxId id, Predicate<UserId> mine) {
        return engine.registry
                .find(id)
                .filter(sandbox -> mine.test(sandbox.owner().user()))
                .filter(this::lives)
                .orElseThrow(() -> new SandboxException(new Failure.NoSuchSandbox(id.value(), ended.endOf(id, mine))));
    }

    /// Reports whether a sandbox can be given out; one whose time is over is ended now, before the reaper comes.
    private boolean lives(Sandbox sandbox) {
        sandbox.awaitFound();
        if (reaper.isDue(sandbox)) {
            reaper.reapIfIdle(sandbox);
        }
        return sandbox.info().end().isEmpty();
    }

    /// The bytes that are held for unfinished work.
    public ByteBudget memory() {
        return memory;
    }

    /// Every sandbox of a thread that has not ended, oldest first.
    public List<SandboxInfo> list() {
        return engine.registry.all().stream()
                .map(Sandbox::info)
                .filter(info -> info.end().isEmpty())
                .sorted(Comparator.comparing(SandboxInfo::createdAt)
                        .thenComparing(info -> info.id().value()))
                .toList();
    }

    /// Ends a sandbox and returns when its machine is gone; the thread is free at once. One that has ended, or
    /// never was, is fine.
    public void terminate(SandboxId id, End.Cause cause, String detail) {
        engine.registry.find(id).ifPresent(sandbox -> {
            ending.end(sandbox, cause, detail);
            pool.refill();
        });
    }

    /// Changes what a sandbox may reach outside, from now on and after a restart too. Fails with `NotAllowed` when
    /// that is more than anybody may have.
    public void allow(Sandbox sandbox, Egress list) {
        engine.tasks.refuseWhileDraining();
        engine.config.egress().require(list);
        sandbox.requireNotEnded();
        State state = sandbox.lifecycle().state();
        Optional<Guest> guest =
                state instanceof State.Running running ? Optional.of(running.guest()) : Optional.empty();
        sandbox.sandboxEgress().allow(list, guest, () -> engine.rows.egress(sandbox.id(), list));
    }

    /// Where the doors of all sandboxes lead.
    public ControlPorts controlPorts() {
        return controlPorts;
    }

    /// What threads' disks were.
    public Snapshots snapshots() {
        return snapshots;
    }

    public PoolStatus pool() {
        return new PoolStatus(engine.config.room().poolSize(), pool.available(), capacity.active(), capacity.limit());
    }

    /// The free space of the home.
    public DiskSpace diskSpace() {
        return engine.space;
    }

    /// Reports whether the loop that reads from all guests runs, and answers within `timeout`.
    public boolean isGuestLoopResponsive(Duration timeout) {
        return loop.isResponsive(timeout);
    }

    /// What was found without an owner and removed, so far.
    public Reconciliation reconciliation() {
        return reconciler.counts();
    }

    /// Refuses new work, saves what has to be saved, removes unused machines and disconnects the guests. Machines
    /// that are used go on. Idempotent.
    public void drain() {
        if (engine.tasks.isDraining()) {
            return;
        }
        engine.tasks.startDraining();
        jobs.close();
        diskGuard.close();
        engine.tasks.close();
        try (var undo = new Undo()) {
            // Both, whatever becomes of the first: a store that fails must not keep the streams open.
            undo.add("close the way out", egressProxy::close);
            undo.add("close the streams", loop::close);
            undo.add("write the labels of new sandboxes", ownership::flush);
            undo.add("save when sandboxes were last used", activity::flush);
            undo.add("remove the machines of the pool", pool::close);
        }
    }

    /// The same as [#drain].
    @Override
    public void close() {
        drain();
    }
}
