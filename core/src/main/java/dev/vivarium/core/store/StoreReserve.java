package dev.vivarium.core.store;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Disk space allocated in advance for the write-ahead log of SQLite, so that the store can commit when the file system
/// is full. Thread-safe.
///
/// The blocks lie beyond the end of the log file (`fallocate --keep-size`), where SQLite writes next and no other
/// process can. SQLite does not shrink the file while it is open. If the allocation fails, it is retried. `fallocate`
/// runs in a process of its own, because closing the file in this process would release the locks of SQLite.
final class StoreReserve implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(StoreReserve.class);
    private static final Duration RETRY = Duration.ofSeconds(30);
    private static final Duration LONGEST = Duration.ofSeconds(20);

    /// Maximum size of the reserve as a fraction of the file system: one tenth.
    private static final int SHARE = 10;

    /// The index of the log takes 8 bytes for a page of 4 KiB, and grows in steps of 32 KiB.
    private static final int INDEX_SHARE = 256;

    private final Path database;
    private final long bytes;
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread worker = Thread.ofVirtual().name("store-reserve").unstarted(this::run);

    private StoreReserve(Path database, long bytes) {
        this.database = database;
        this.bytes = bytes;
    }

    /// Allocates the space in the background. The database must be open, so that its log exists.
    static StoreReserve start(Path database, long wantedBytes) {
        long share = database.toFile().getTotalSpace() / SHARE;
        var reserve = new StoreReserve(database, Math.min(wantedBytes, share));
        if (reserve.bytes > 0) {
            reserve.worker.start();
        }
        return reserve;
    }

    private void run() {
        try {
            for (boolean isFirst = true; !allocateAll(isFirst); isFirst = false) {
                if (closed.await(RETRY.toMillis(), TimeUnit.MILLISECONDS)) {
                    return;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean allocateAll(boolean isFirst) throws InterruptedException {
        try {
            allocate("-wal", bytes);
            allocate("-shm", bytes / INDEX_SHARE);
            return true;
        } catch (IOException e) {
            if (isFirst) {
                LOG.warn("The store has no reserved disk space and tries again: {}", e.getMessage());
            }
            return false;
        }
    }

    private void allocate(String suffix, long length) throws IOException, InterruptedException {
        var process = new ProcessBuilder(
                        List.of("fallocate", "--keep-size", "--length", Long.toString(length), database + suffix))
                .redirectInput(Redirect.from(Path.of("/dev/null").toFile()))
                .redirectErrorStream(true)
                .start();
        try (var output = process.getInputStream()) {
            if (!process.waitFor(LONGEST.toMillis(), TimeUnit.MILLISECONDS)) {
                process.destroyForcibly();
                throw new IOException("fallocate takes longer than " + LONGEST.toSeconds() + " s");
            }
            if (process.exitValue() != 0) {
                throw new IOException(new String(output.readAllBytes(), StandardCharsets.UTF_8).strip());
            }
        }
    }

    /// Stops retrying. Call it before the database closes, because `fallocate` would create the log again.
    /// Idempotent.
    @Override
    public void close() {
        closed.countDown();
        try {
            if (bytes > 0) {
                worker.join();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
