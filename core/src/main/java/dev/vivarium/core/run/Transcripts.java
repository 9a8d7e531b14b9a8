package dev.vivarium.core.run;

import dev.vivarium.core.files.Depth;
import dev.vivarium.core.files.Download;
import dev.vivarium.core.files.Upload;
import dev.vivarium.core.files.Workspace;
import dev.vivarium.core.run.Mirror.Copy;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.model.Failure;
import dev.vivarium.model.FileEntry;
import dev.vivarium.model.Run;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The conversations of agents: what their runtimes keep of them in the sandbox, copied to the server while they grow,
/// so that another sandbox can go on with one. Thread-safe.
public final class Transcripts {
    private static final Logger LOG = LoggerFactory.getLogger(Transcripts.class);

    /// Of one conversation. What is beyond that stays in the sandbox, the oldest first.
    private static final long MOST_BYTES = 64L * 1024 * 1024;

    private static final int MOST_FILES = 5000;
    private static final int BUFFER = 64 * 1024;

    private final Path root;
    private final Kept kept;
    private final InstantSource clock;
    private final Map<SandboxId, Semaphore> turns = new ConcurrentHashMap<>();

    /// Which of them stay: for how long after they last grew, and how many bytes of them together.
    public record Kept(Duration age, long bytes) {}

    /// @param root where they are kept
    public Transcripts(Path root, Kept kept, InstantSource clock) {
        this.root = root;
        this.kept = kept;
        this.clock = clock;
    }

    /// Copies what has changed, and waits for that at most so long: a sandbox may do anything to be slow.
    void save(Sandbox sandbox, Run run, Duration patience) {
        var worker = Thread.ofVirtual().name("transcript-" + run.id()).start(() -> saveInTurn(sandbox, run));
        try {
            if (!worker.join(patience)) {
                worker.interrupt();
                LOG.warn("the transcript of {} took longer than {} s", run.sandbox(), patience.toSeconds());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void saveInTurn(Sandbox sandbox, Run run) {
        Semaphore turn = turns.computeIfAbsent(run.sandbox(), any -> new Semaphore(1));
        try {
            if (!turn.tryAcquire(10, TimeUnit.SECONDS)) {
                return;
            }
            try {
                copy(
                        sandbox.look(),
                        directory(run),
                        new Mirror(root.resolve(run.sandbox().value())));
            } finally {
                turn.release();
            }
        } catch (SandboxException | IOException e) {
            // What was copied before stays; the next time gets the rest.
            LOG.debug("the transcript of {} was not copied: {}", run.sandbox(), e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static String directory(Run run) {
        return Workers.STATE + "/" + run.program().runtime().text();
    }

    private static void copy(Workspace files, String directory, Mirror mirror) throws IOException {
        var found = files.list(directory, Depth.ALL, MOST_FILES).entries().stream()
                .filter(entry -> entry.type() == FileEntry.Type.FILE)
                .toList();
        if (found.isEmpty()) {
            return;
        }
        mirror.make();
        Map<String, Copy> before = mirror.copies();
        var copies = new ArrayList<Copy>();
        long total = 0;
        try {
            for (FileEntry entry : found) {
                var copy = Copy.of(entry);
                // A size may be anything: subtracted, it cannot overflow.
                if (entry.size() > MOST_BYTES - total) {
                    continue;
                }
                total += entry.size();
                if (copy.equals(before.get(entry.name())) || isCopied(files, directory, copy, mirror)) {
                    copies.add(copy);
                }
            }
        } catch (SandboxException e) {
            // The guest was lost in the middle: what was copied before is all there will ever be of the rest.
            copies.forEach(copy -> before.put(copy.path(), copy));
            mirror.settle(List.copyOf(before.values()));
            throw e;
        }
        mirror.settle(copies);
    }

    /// A file that has gone since it was listed, or has an impossible name, does not keep the others from being
    /// copied.
    private static boolean isCopied(Workspace files, String directory, Copy copy, Mirror mirror) throws IOException {
        try {
            copy(files, directory + "/" + copy.path(), copy, mirror);
            return true;
        } catch (SandboxException e) {
            if (e.failure() instanceof Failure.GuestUnreachable) {
                throw e;
            }
            return false;
        }
    }

    /// As much as it had when it was listed: a conversation only grows at its end.
    private static void copy(Workspace files, String path, Copy copy, Mirror mirror) throws IOException {
        Path fresh = mirror.unfinished(copy.path());
        try (Download download = files.read(path, 0, copy.size());
                var out = Files.newOutputStream(fresh)) {
            download.transferTo(out);
        }
        Files.move(fresh, mirror.file(copy.path()), StandardCopyOption.ATOMIC_MOVE);
    }

    /// The sandbox has ended; what was copied stays.
    void forget(SandboxId sandbox) {
        turns.remove(sandbox);
    }

    /// Reports whether there is one of that sandbox.
    boolean has(SandboxId sandbox) {
        return Files.isDirectory(root.resolve(sandbox.value()));
    }

    /// Puts the conversation of one sandbox into another, where its runtime looks for it.
    void restore(SandboxId from, Sandbox to, Run run) {
        var mirror = new Mirror(root.resolve(from.value()));
        try {
            for (Copy copy : mirror.copies().values()) {
                try (Upload upload = to.files().write(directory(run) + "/" + copy.path(), Upload.Limits.NONE)) {
                    upload(mirror.file(copy.path()), upload);
                    upload.commit();
                }
            }
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

    /// Removes those that have not grown for so long that nobody will go on with them, and the oldest of the others
    /// while they take more room than they may.
    void prune() {
        Instant limit = clock.instant().minus(kept.age());
        long room = kept.bytes();
        try {
            for (Path directory : newestFirst()) {
                var mirror = new Mirror(directory);
                room -= mirror.bytes();
                if (room < 0 || lastGrown(directory).isBefore(limit)) {
                    mirror.delete();
                }
            }
        } catch (IOException | UncheckedIOException e) {
            LOG.warn("old transcripts stay a while: {}", e.getMessage());
        }
    }

    private List<Path> newestFirst() throws IOException {
        var found = new ArrayList<Path>();
        if (Files.isDirectory(root)) {
            try (var all = Files.newDirectoryStream(root)) {
                all.forEach(found::add);
            }
        }
        found.sort(Comparator.comparing(Transcripts::lastGrown).reversed());
        return found;
    }

    private static Instant lastGrown(Path directory) {
        try {
            return Files.getLastModifiedTime(directory).toInstant();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
