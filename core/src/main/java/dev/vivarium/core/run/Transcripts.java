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

/// Transcripts: copies of the conversations of agents, with which a run in another sandbox continues. Thread-safe.
///
/// The runtime of an agent stores its conversation in the sandbox. The server copies the files while they grow.
public final class Transcripts {
    private static final Logger LOG = LoggerFactory.getLogger(Transcripts.class);

    /// Maximum size of one transcript. If the files are larger together, the server omits the oldest ones.
    private static final long MAX_BYTES = 64L * 1024 * 1024;

    private static final int MAX_FILES = 5000;
    private static final int BUFFER = 64 * 1024;

    private final Path root;
    private final Retention retention;
    private final InstantSource clock;
    private final Map<SandboxId, Semaphore> mutexes = new ConcurrentHashMap<>();

    /// Maximum time since the last change of a transcript, and maximum size of all transcripts.
    public record Retention(Duration age, long bytes) {}

    /// @param root directory of the copies
    public Transcripts(Path root, Retention retention, InstantSource clock) {
        this.root = root;
        this.retention = retention;
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
                        sandbox.passiveFiles(),
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
        var found = files.list(directory, ListDepth.ALL, MAX_FILES).entries().stream()
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
                if (entry.size() > MAX_BYTES - total) {
                    continue;
                }
                total += entry.size();
                if (copy.equals(before.get(entry.name())) || tryCopy(files, directory, copy, fileMirror)) {
                    copies.add(copy);
                }
            }
        } catch (SandboxException e) {
            // The connection to the guest is lost. Keep the earlier copies of the other files.
            copies.forEach(copy -> before.put(copy.path(), copy));
            fileMirror.commit(List.copyOf(before.values()));
            throw e;
        }
        fileMirror.commit(copies);
    }

    /// Copies one file. Returns false if the file was deleted after the listing or has an invalid name, so that the
    /// other files are still copied.
    private static boolean tryCopy(Workspace files, String directory, Copy copy, FileMirror fileMirror)
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

    /// Copies the first `copy.size()` bytes, so that the copy matches the listing while the runtime appends to the
    /// file.
    private static void copy(Workspace files, String path, Copy copy, FileMirror fileMirror) throws IOException {
        Path fresh = fileMirror.unfinished(copy.path());
        try (Download download = files.read(path, 0, copy.size());
                var out = Files.newOutputStream(fresh)) {
            download.transferTo(out);
        }
        Files.move(fresh, fileMirror.file(copy.path()), StandardCopyOption.ATOMIC_MOVE);
    }

    /// Releases the mutex of an ended sandbox. Its transcript stays.
    void forget(SandboxId sandbox) {
        mutexes.remove(sandbox);
    }

    /// Reports whether the server has a complete transcript of a sandbox.
    boolean has(SandboxId sandbox) {
        try {
            return new FileMirror(root.resolve(sandbox.value())).isComplete();
        } catch (IOException e) {
            throw new UncheckedIOException("reading the transcript of " + sandbox, e);
        }
    }

    static SandboxException noTranscript(SandboxId sandbox) {
        return new SandboxException(new RunFailure.NoTranscript(sandbox));
    }

    /// Writes the transcript of the sandbox `from` into the sandbox `to`, in the directory of the runtime of `run`.
    /// Fails with `no-transcript` if the transcript was deleted.
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
            throw noTranscript(from);
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

    /// Deletes transcripts that exceed the retention, the oldest first. Keeps the transcripts of active runs.
    void prune(Predicate<SandboxId> isActive) {
        Instant limit = clock.instant().minus(retention.age());
        long room = retention.bytes();
        for (Found found : newestFirst()) {
            try {
                var fileMirror = new FileMirror(root.resolve(found.sandbox().value()));
                room -= fileMirror.bytes();
                boolean isDue = room < 0 || found.changed().isBefore(limit);
                if (isDue && !isActive.test(found.sandbox())) {
                    deleteExclusively(found.sandbox(), fileMirror);
                }
            } catch (IOException e) {
                LOG.warn("the expired transcript of {} could not be deleted: {}", found.sandbox(), e.getMessage());
            }
        }
    }

    /// Skips a transcript that is being copied. Otherwise, the new index would name deleted files.
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

    /// A transcript. Holds the time of its last change, because that time can change during the sort.
    private record Found(SandboxId sandbox, Instant changed) {}

    private static boolean isTranscript(Path directory) {
        return SandboxId.isWellFormed(directory.getFileName().toString());
    }

    private List<Found> newestFirst() {
        var found = new ArrayList<Found>();
        if (Files.isDirectory(root)) {
            try (var all = Files.newDirectoryStream(root, Transcripts::isTranscript)) {
                for (Path directory : all) {
                    var sandbox = new SandboxId(directory.getFileName().toString());
                    found.add(new Found(
                            sandbox, Files.getLastModifiedTime(directory).toInstant()));
                }
            } catch (IOException | DirectoryIteratorException e) {
                LOG.warn("the transcripts could not be listed, so none is deleted: {}", e.getMessage());
            }
        }
        found.sort(Comparator.comparing(Found::changed).reversed());
        return found;
    }
}
