package dev.vivarium.core.sandbox;

import dev.vivarium.core.files.ListDepth;
import dev.vivarium.core.files.Workspace;
import dev.vivarium.model.SandboxException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Last known number of files in the workspace of one sandbox. A sandbox that does not run cannot count them.
/// Thread-safe.
final class FileCount {
    private static final Logger LOG = LoggerFactory.getLogger(FileCount.class);
    private static final Duration TIMEOUT = Duration.ofSeconds(1);

    private volatile Optional<Long> last = Optional.empty();

    Optional<Long> last() {
        return last;
    }

    void last(Optional<Long> known) {
        last = known;
    }

    long count(Workspace workspace) {
        long files = workspace.list("", ListDepth.ALL, 1).totalFiles();
        last = Optional.of(files);
        return files;
    }

    /// Counts before the sandbox stops. If the guest takes longer than a second, the sandbox stops without it.
    void update(Supplier<Workspace> workspace) {
        var done = new CountDownLatch(1);
        Thread.ofVirtual().name("count-files").start(() -> {
            try {
                count(workspace.get());
            } catch (SandboxException e) {
                LOG.debug("The files were not counted: {}", e.getMessage());
            } finally {
                done.countDown();
            }
        });
        try {
            boolean _ = done.await(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
