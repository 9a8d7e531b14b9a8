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

/// What the files of sandboxes were, by the events of their logs. Bounded for each sandbox: what is there now comes
/// first, and of what was the oldest goes first. Thread-safe.
public final class FileHistory {
    /// Files beyond these are watched, but not remembered.
    static final int MOST_FILES = 10_000;

    /// Characters of text, of all that is kept for one sandbox.
    private static final long MOST_CHARACTERS = 8 << 20;

    private static final int ROWS_AT_ONCE = 500;

    /// Long, because whoever gave up would be told that the text was not kept.
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Db db;
    private final Map<SandboxId, CountDownLatch> beingTold = new ConcurrentHashMap<>();

    public FileHistory(Db db) {
        this.db = db;
    }

    /// What is known of a path at some moment.
    public sealed interface Moment {
        /// This was there.
        record There(Version version) implements Moment {}

        /// Nothing was there.
        record Nothing() implements Moment {}

        /// Something was there that is not known any more.
        record Forgotten() implements Moment {}
    }

    /// What was at `path` when the event `seq` was the newest.
    public Moment at(SandboxId sandbox, String path, long seq) {
        awaitWritten(sandbox);
        return db.read(sql -> {
            Optional<Version> there = FileRows.at(sql, sandbox, path, seq);
            if (there.isPresent()) {
                return new Moment.There(there.get());
            }
            // What was changed later, and not made, was there before.
            return FileRows.firstAfter(sql, sandbox, path, seq)
                            .filter(type -> !type.equals("file.created"))
                            .isPresent()
                    ? new Moment.Forgotten()
                    : new Moment.Nothing();
        });
    }

    /// Whoever has seen an event is a little ahead of what it tells of.
    private void awaitWritten(SandboxId sandbox) {
        CountDownLatch latch = beingTold.get(sandbox);
        try {
            if (latch != null) {
                latch.await(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /// Something is about to be told of a sandbox that is written before the result is closed.
    Telling begin(SandboxId sandbox) {
        return new Telling(sandbox);
    }

    /// While it is open, readers wait for what was told already. Confined to one worker.
    final class Telling implements AutoCloseable {
        private final SandboxId sandbox;
        private final CountDownLatch latch = new CountDownLatch(1);

        private Telling(SandboxId sandbox) {
            this.sandbox = sandbox;
            beingTold.put(sandbox, latch);
        }

        @Override
        public void close() {
            beingTold.remove(sandbox, latch);
            latch.countDown();
        }
    }

    /// Removes what was over before the oldest event that is kept of a log. Returns how much that was.
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

    /// The newest event of which something is remembered.
    long lastSeq(SandboxId sandbox) {
        return db.read(sql -> FileRows.lastSeq(sql, sandbox));
    }

    long characters(SandboxId sandbox) {
        return db.read(sql -> FileRows.characters(sql, sandbox));
    }

    /// Keeps the next versions, some at a time: others write too.
    void write(SandboxId sandbox, List<FileRows.Step> steps) {
        for (int from = 0; from < steps.size(); from += ROWS_AT_ONCE) {
            List<FileRows.Step> some = steps.subList(from, Math.min(steps.size(), from + ROWS_AT_ONCE));
            db.write(sql -> {
                FileRows.write(sql, sandbox, some);
                return some.size();
            });
        }
    }

    void learn(SandboxId sandbox, List<Version> versions) {
        db.write(sql -> {
            for (Version version : versions) {
                FileRows.learn(sql, sandbox, version);
            }
            return versions.size();
        });
    }

    /// Makes room if there is too much. Returns how much is left.
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
