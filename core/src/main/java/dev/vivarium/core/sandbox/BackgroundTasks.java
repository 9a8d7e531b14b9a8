package dev.vivarium.core.sandbox;

import dev.vivarium.core.VitalThread;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Work that goes on in the background, one virtual thread each, and is waited for at the end. What it throws is
/// logged. Thread-safe.
final class BackgroundTasks implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(BackgroundTasks.class);
    private static final Duration PATIENCE = Duration.ofSeconds(15);

    private final ExecutorService workers = Executors.newVirtualThreadPerTaskExecutor();

    /// Starts `work` unless the engine is closing. The name is what logs and dumps show.
    void start(String name, Runnable work) {
        try {
            workers.execute(() -> {
                Thread.currentThread().setName(name);
                try {
                    work.run();
                } catch (RuntimeException e) {
                    LOG.warn("{} failed: {}", name, e.getMessage(), e);
                } catch (Error e) {
                    // The executor would give it to nobody.
                    VitalThread.report(e);
                }
            });
        } catch (RejectedExecutionException e) {
            LOG.debug("{} was not started, because the engine is closing", name);
        }
    }

    /// Waits for what is under way; work that takes too long is interrupted.
    @Override
    public void close() {
        workers.shutdown();
        try {
            if (!workers.awaitTermination(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
                workers.shutdownNow();
            }
        } catch (InterruptedException e) {
            workers.shutdownNow();
            Thread.currentThread().interrupt();
        }
    }
}
