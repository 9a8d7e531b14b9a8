package dev.vivarium.core.watch;

import dev.vivarium.core.store.Db;
import dev.vivarium.model.SandboxId;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// History of the files of sandboxes, keyed by the events of their logs. Bounded for each sandbox. Thread-safe.
///
/// Current versions take precedence. Of past versions, the oldest are deleted first.
public final class FileHistory {
    /// Maximum number of files recorded for a sandbox. Further files are watched, but not recorded.
    static final int MOST_FILES = 10_000;

    /// Maximum number of text characters stored for a sandbox.
    private static final long MOST_CHARACTERS = 8 << 20;

    private static final int ROWS_AT_ONCE = 500;

    /// Long, because a reader that times out would report that the text was not kept.
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private final Db db;
    private final Map<SandboxId, CountDownLatch> beingTold = new ConcurrentHashMap<>();

    public FileHistory(Db db) {
        this.db = db;
    }

    /// Known state of a path at some event.
    public sealed interface Moment {
        /// The path existed with this version.
        record There(Version version) implements Moment {}

        /// The path did not exist.
        record Nothing() implements Moment {}

        /// The path existed, but its version is no longer stored.
        record Forgotten() implements Moment {}
    }

    /// Returns the state of `path` when `seq` was the newest event.
    public Moment at(SandboxId sandbox, String path, long seq) {
        awaitWritten(sandbox);
        return db.read(sql -> {
            Optional<Version> there = FileRows.at(sql, sandbox, path, seq);
            if (there.isPresent()) {
                return new Moment.There(there.get());
            }
            // If the next event is not a creation, the path existed before.
            return FileRows.firstAfter(sql, sandbox, path, seq)
                            .filter(type -> !type.equals("file.created"))
                            .isPresent()
                    ? new Moment.Forgotten()
                    : new Moment.Nothing();
        });
    }

    /// Waits for pending writes: a client may receive an event before its version is stored.
    private void awaitWritten(SandboxId sandbox) {
        CountDownLatch latch = beingTold.get(sandbox);
        try {
            if (latch != null) {
                latch.await(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /// Announces events of a sandbox. Their versions are stored before the result is closed.
    Publication begin(SandboxId sandbox) {
        return new Publication(sandbox);
    }

    /// While it is open, readers wait for the versions of published events. Confined to one thread.
    final class Publication implements AutoCloseable {
        private final SandboxId sandbox;
        private final CountDownLatch latch = new CountDownLatch(1);

        private Publication(SandboxId sandbox) {
            this.sandbox = sandbox;
            beingTold.put(sandbox, latch);
        }

        @Override
        public void close() {
            beingTold.remove(sandbox, latch);
            latch.countDown();
        }
    }

    /// Deletes versions that ended before the oldest stored event of their log. Returns the number of deleted
    /// versions.
    public int prune() {
        return db.write(FileRows::prune);
    }

    List<Version> current(SandboxId sandbox) {
        return db.read(sql -> FileRows.current(sql, sandbox));
    }

    List<Version> current(SandboxId sandbox, List<String> paths) {
        return paths.isEmpty() ? List.of() : db.read(sql -> FileRows.current(sql, sandbox, paths));
    }

    List<Version> below(SandboxId sandbox, String directory) {
        return db.read(sql -> FileRows.below(sql, sandbox, directory));
    }

    /// Returns the newest event with a stored version.
    long lastSeq(SandboxId sandbox) {
        return db.read(sql -> FileRows.lastSeq(sql, sandbox));
    }

    long characters(SandboxId sandbox) {
        return db.read(sql -> FileRows.characters(sql, sandbox));
    }

    /// Stores the next versions in batches, so that other writers are not blocked for long.
    void write(SandboxId sandbox, List<FileRows.Step> steps) {
        for (int from = 0; from < steps.size(); from += ROWS_AT_ONCE) {
            List<FileRows.Step> some = steps.subList(from, Math.min(steps.size(), from + ROWS_AT_ONCE));
            db.write(sql -> {
                FileRows.write(sql, sandbox, some);
                return some.size();
            });
        }
    }

    void updateContent(SandboxId sandbox, List<Version> versions) {
        db.write(sql -> {
            for (Version version : versions) {
                FileRows.updateContent(sql, sandbox, version);
            }
            return versions.size();
        });
    }

    /// Deletes old versions if the limit is exceeded. Returns the number of remaining characters.
    long makeRoom(SandboxId sandbox, long characters) {
        if (characters <= MOST_CHARACTERS) {
            return characters;
        }
        return db.write(sql -> {
            FileRows.forget(sql, sandbox);
            return FileRows.characters(sql, sandbox);
        });
    }

    static boolean hasRoom(long characters) {
        return characters <= MOST_CHARACTERS;
    }
}
