package dev.vivarium.core.watch;

import dev.vivarium.core.Scheduler;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.sandbox.PauseReason;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.core.sandbox.SandboxListener;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.Status;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Watches the files and the resource usage of every sandbox. Register it as a listener of [Sandboxes], then call
/// [#begin]. Thread-safe.
public final class Watchers implements SandboxListener, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Watchers.class);
    private static final int SURVEYS = 4;
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    private final EventLog log;
    private final FileHistory history;
    private final Semaphore surveys = new Semaphore(SURVEYS, true);
    private final Map<SandboxId, Watcher> watchers = new ConcurrentHashMap<>();
    private final ExecutorService workers = Executors.newThreadPerTaskExecutor(
            Thread.ofVirtual().name("watcher-", 0).factory());
    private final UsageSampler meter;
    private final Duration metricsEvery;
    private final Scheduler.Jobs jobs;
    private final Set<SandboxId> beingRead = ConcurrentHashMap.newKeySet();
    private volatile Optional<Sandboxes> sandboxes = Optional.empty();

    /// @param metricsEvery interval between usage samples of a sandbox in use
    public Watchers(EventLog log, FileHistory history, Duration metricsEvery, Scheduler scheduler) {
        this.log = log;
        this.history = history;
        this.metricsEvery = metricsEvery;
        this.meter = new UsageSampler(log, scheduler.clock());
        this.jobs = scheduler.jobs();
    }

    /// Watches all existing sandboxes, and from now on each new one.
    public void begin(Sandboxes all) {
        sandboxes = Optional.of(all);
        jobs.every(metricsEvery, "usage sampling", () -> readMeters(all));
        all.list().forEach(info -> start(() -> all.find(info.id()).ifPresent(sandbox -> watch(sandbox, Age.OLD))));
    }

    private void readMeters(Sandboxes all) {
        for (SandboxInfo info : all.list()) {
            if (info.status() == Status.RUNNING && beingRead.add(info.id())) {
                start(() -> readMeter(all, info.id()));
            }
        }
    }

    private void readMeter(Sandboxes all, SandboxId id) {
        try {
            surveys.acquire();
            try {
                all.find(id).ifPresent(meter::read);
            } finally {
                surveys.release();
            }
        } catch (SandboxException e) {
            LOG.debug("what {} uses is not known at the moment: {}", id, e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            beingRead.remove(id);
        }
    }

    /// Returns the last usage sample of a sandbox, or nothing if the server has not taken one since its start.
    /// Takes no new sample.
    public Optional<UsageSample> reading(SandboxId sandbox) {
        return meter.last(sandbox);
    }

    /// Returns the average used disk space of the sampled sandboxes, in bytes. Takes no new sample.
    public double averageDiskBytes() {
        return meter.averageDiskBytes();
    }

    @Override
    public void created(SandboxInfo sandbox, Origin origin, Duration took) {
        sandboxes.ifPresent(all -> start(() -> all.find(sandbox.id()).ifPresent(made -> watch(made, Age.NEW))));
    }

    /// Whether the store may contain versions of a sandbox's files.
    private enum Age {
        NEW,
        OLD
    }

    private void start(Runnable work) {
        try {
            workers.execute(work);
        } catch (RejectedExecutionException e) {
            // The server is shutting down. The next server watches the sandbox.
        }
    }

    private void watch(Sandbox sandbox, Age age) {
        var fileIndex = new FileIndex(sandbox.id(), log, history, System::nanoTime);
        if (age == Age.OLD) {
            fileIndex.load();
        }
        var watcher = new Watcher(sandbox, fileIndex, surveys);
        if (watchers.putIfAbsent(sandbox.id(), watcher) == null) {
            try {
                watcher.run();
            } finally {
                watchers.remove(sandbox.id(), watcher);
            }
        }
    }

    @Override
    public void resumed(SandboxInfo sandbox, PauseReason why) {
        wake(sandbox);
    }

    @Override
    public void hibernated(SandboxInfo sandbox, PauseReason why) {
        meter.forget(sandbox.id());
    }

    @Override
    public void woken(SandboxInfo sandbox, Duration took) {
        wake(sandbox);
    }

    @Override
    public void recovered(SandboxInfo sandbox, Recovery how) {
        wake(sandbox);
    }

    @Override
    public void removed(SandboxInfo sandbox) {
        meter.forget(sandbox.id());
        Optional.ofNullable(watchers.get(sandbox.id())).ifPresent(Watcher::close);
    }

    private void wake(SandboxInfo sandbox) {
        Optional.ofNullable(watchers.get(sandbox.id())).ifPresent(Watcher::wake);
    }

    /// Stops all watchers. Close it after the sandboxes and before the log. Idempotent.
    @Override
    public void close() {
        jobs.close();
        watchers.values().forEach(Watcher::close);
        workers.shutdownNow();
        try {
            workers.awaitTermination(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
