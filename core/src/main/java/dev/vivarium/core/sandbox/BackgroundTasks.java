package dev.vivarium.core.sandbox;

import dev.vivarium.core.CriticalThread;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Background work of the sandboxes, one virtual thread each, until the server drains. An exception is logged.
/// Thread-safe.
final class BackgroundTasks implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(BackgroundTasks.class);
    private static final Duration TIMEOUT = Duration.ofSeconds(15);

    private final ExecutorService workers = Executors.newVirtualThreadPerTaskExecutor();

    /// Names of the running tasks of [#startOnce].
    private final Set<String> once = ConcurrentHashMap.newKeySet();

    private volatile boolean draining;

    /// Starts `work` unless this object is closed. The name appears in logs and thread dumps.
    void start(String name, Runnable work) {
        try {
            workers.execute(() -> {
                Thread.currentThread().setName(name);
                try {
                    work.run();
                } catch (RuntimeException e) {
                    LOG.warn("{} failed: {}", name, e.getMessage(), e);
                } catch (Error e) {
                    // The executor discards the error.
                    CriticalThread.report(e);
                }
            });
        } catch (RejectedExecutionException e) {
            LOG.debug("{} was not started, because the server is closing", name);
        }
    }

    /// Like [#start], but does nothing while work with this name runs.
    void startOnce(String name, Runnable work) {
        if (once.add(name)) {
            start(name, () -> {
                try {
                    work.run();
                } finally {
                    once.remove(name);
                }
            });
        }
    }

    boolean isDraining() {
        return draining;
    }

    void startDraining() {
        draining = true;
    }

    void refuseWhileDraining() {
        if (draining) {
            throw new SandboxException(new Failure.ShuttingDown());
        }
    }

    /// Waits for the running tasks, and interrupts them after a timeout.
    @Override
    public void close() {
        workers.shutdown();
        try {
            if (!workers.awaitTermination(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)) {
                workers.shutdownNow();
            }
        } catch (InterruptedException e) {
            workers.shutdownNow();
            Thread.currentThread().interrupt();
        }
    }
}
