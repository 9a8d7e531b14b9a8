package dev.vivarium.core.run;

import dev.vivarium.core.files.Download;
import dev.vivarium.core.files.ListDepth;
import dev.vivarium.core.files.Upload;
import dev.vivarium.core.files.Workspace;
import dev.vivarium.core.run.FileMirror.Copy;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.model.Failure;
import dev.vivarium.model.FileEntry;
import dev.vivarium.model.Run;
import dev.vivarium.model.RunFailure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Copies of the conversations of agents, so that a run in another sandbox can continue one. Thread-safe.
///
/// The runtime of an agent stores the conversation in the sandbox; the server copies it while it grows.
public final class Transcripts {
    private static final Logger LOG = LoggerFactory.getLogger(Transcripts.class);

    /// Bytes of one conversation. The server does not copy the oldest files beyond it.
    private static final long MOST_BYTES = 64L * 1024 * 1024;

    private static final int MOST_FILES = 5000;
    private static final int BUFFER = 64 * 1024;

    private final Path root;
    private final Kept kept;
    private final InstantSource clock;
    private final Map<SandboxId, Semaphore> mutexes = new ConcurrentHashMap<>();

    /// Retention: time since the last change, and bytes of all conversations.
    public record Kept(Duration age, long bytes) {}

    /// @param root directory of the copies
    public Transcripts(Path root, Kept kept, InstantSource clock) {
        this.root = root;
        this.kept = kept;
        this.clock = clock;
    }

    /// Copies the changed files. Waits at most `timeout`, because a sandbox can delay the copy.
    void save(Sandbox sandbox, Run run, Duration timeout) {
        var worker = Thread.ofVirtual().name("transcript-" + run.id()).start(() -> saveExclusively(sandbox, run));
        try {
            if (!worker.join(timeout)) {
                worker.interrupt();
                LOG.warn("the transcript of {} took longer than {} s", run.sandbox(), timeout.toSeconds());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void saveExclusively(Sandbox sandbox, Run run) {
        Semaphore mutex = mutexes.computeIfAbsent(run.sandbox(), any -> new Semaphore(1));
        try {
            if (!mutex.tryAcquire(10, TimeUnit.SECONDS)) {
                return;
            }
            try {
                copy(
                        sandbox.look(),
                        directory(run),
                        new FileMirror(root.resolve(run.sandbox().value())));
            } finally {
                mutex.release();
            }
        } catch (SandboxException | IOException e) {
            // The next call copies the rest.
            LOG.debug("the transcript of {} was not copied: {}", run.sandbox(), e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static String directory(Run run) {
        return Workers.STATE + "/" + run.program().runtime().text();
    }

    private static void copy(Workspace files, String directory, FileMirror fileMirror) throws IOException {
        var found = files.list(directory, ListDepth.ALL, MOST_FILES).entries().stream()
                .filter(entry -> entry.type() == FileEntry.Type.FILE)
                .toList();
        if (found.isEmpty()) {
            return;
        }
        fileMirror.make();
        Map<String, Copy> before = fileMirror.copies();
        var copies = new ArrayList<Copy>();
        long total = 0;
        try {
            for (FileEntry entry : found) {
                var copy = Copy.of(entry);
                // Subtraction, because the sum of sizes from a sandbox can overflow.
                if (entry.size() > MOST_BYTES - total) {
                    continue;
                }
                total += entry.size();
                if (copy.equals(before.get(entry.name())) || isCopied(files, directory, copy, fileMirror)) {
                    copies.add(copy);
                }
            }
        } catch (SandboxException e) {
            // The guest was lost. The earlier copies of the other files stay.
            copies.forEach(copy -> before.put(copy.path(), copy));
            fileMirror.settle(List.copyOf(before.values()));
            throw e;
        }
        fileMirror.settle(copies);
    }

    /// A file that was deleted since the listing, or whose name is invalid, does not prevent the copy of the
    /// others.
    private static boolean isCopied(Workspace files, String directory, Copy copy, FileMirror fileMirror)
            throws IOException {
        try {
            copy(files, directory + "/" + copy.path(), copy, fileMirror);
            return true;
        } catch (SandboxException e) {
            if (e.failure() instanceof Failure.GuestUnreachable) {
                throw e;
            }
            return false;
        }
    }

    /// Copies as many bytes as the listing states. A conversation only grows at its end.
    private static void copy(Workspace files, String path, Copy copy, FileMirror fileMirror) throws IOException {
        Path fresh = fileMirror.unfinished(copy.path());
        try (Download download = files.read(path, 0, copy.size());
                var out = Files.newOutputStream(fresh)) {
            download.transferTo(out);
        }
        Files.move(fresh, fileMirror.file(copy.path()), StandardCopyOption.ATOMIC_MOVE);
    }

    /// The sandbox has ended. Its copies stay.
    void forget(SandboxId sandbox) {
        mutexes.remove(sandbox);
    }

    /// Reports whether the copy of a sandbox is complete.
    boolean has(SandboxId sandbox) {
        try {
            return new FileMirror(root.resolve(sandbox.value())).isWhole();
        } catch (IOException e) {
            throw new UncheckedIOException("reading the transcript of " + sandbox, e);
        }
    }

    static SandboxException none(SandboxId sandbox) {
        return new SandboxException(new RunFailure.NoTranscript(sandbox));
    }

    /// Writes the conversation of one sandbox into another, to the directory of its runtime. Fails with
    /// `no-transcript` if it was deleted.
    void restore(SandboxId from, Sandbox to, Run run) {
        var fileMirror = new FileMirror(root.resolve(from.value()));
        try {
            for (Copy copy : fileMirror.copies().values()) {
                try (Upload upload = to.files().write(directory(run) + "/" + copy.path(), Upload.Limits.NONE)) {
                    upload(fileMirror.file(copy.path()), upload);
                    upload.commit();
                }
            }
        } catch (NoSuchFileException e) {
            throw none(from);
        } catch (IOException e) {
            throw new UncheckedIOException("reading the transcript of " + from, e);
        }
    }

    private static void upload(Path file, Upload upload) throws IOException {
        var buffer = new byte[BUFFER];
        try (var in = Files.newInputStream(file)) {
            for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
                upload.write(buffer, 0, count);
            }
        }
    }

    /// Deletes conversations beyond the retention, the oldest first. Keeps those of active runs.
    void prune(Predicate<SandboxId> isAtWork) {
        Instant limit = clock.instant().minus(kept.age());
        long room = kept.bytes();
        for (Found found : newestFirst()) {
            try {
                var fileMirror = new FileMirror(root.resolve(found.sandbox().value()));
                room -= fileMirror.bytes();
                boolean isDue = room < 0 || found.grown().isBefore(limit);
                if (isDue && !isAtWork.test(found.sandbox())) {
                    deleteExclusively(found.sandbox(), fileMirror);
                }
            } catch (IOException e) {
                LOG.warn("the transcript of {} stays a while: {}", found.sandbox(), e.getMessage());
            }
        }
    }

    /// Waits for a copy that is under way, because its index would name deleted files.
    private void deleteExclusively(SandboxId sandbox, FileMirror fileMirror) throws IOException {
        Semaphore mutex = mutexes.computeIfAbsent(sandbox, any -> new Semaphore(1));
        if (mutex.tryAcquire()) {
            try {
                fileMirror.delete();
            } finally {
                mutex.release();
                mutexes.remove(sandbox, mutex);
            }
        }
    }

    /// A conversation and the time of its last change, read once, because it can change during a sort.
    private record Found(SandboxId sandbox, Instant grown) {}

    private static boolean isOne(Path directory) {
        return SandboxId.isWellFormed(directory.getFileName().toString());
    }

    private List<Found> newestFirst() {
        var found = new ArrayList<Found>();
        if (Files.isDirectory(root)) {
            try (var all = Files.newDirectoryStream(root, Transcripts::isOne)) {
                for (Path directory : all) {
                    var sandbox = new SandboxId(directory.getFileName().toString());
                    found.add(new Found(
                            sandbox, Files.getLastModifiedTime(directory).toInstant()));
                }
            } catch (IOException | DirectoryIteratorException e) {
                LOG.warn("old transcripts stay a while: {}", e.getMessage());
            }
        }
        found.sort(Comparator.comparing(Found::grown).reversed());
        return found;
    }
}
