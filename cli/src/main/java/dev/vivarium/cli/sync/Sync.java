package dev.vivarium.cli.sync;

import dev.vivarium.cli.sync.Change.Kind;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;

/// Synchronization of a directory with a remote side, in rounds. Confined to one thread.
///
/// A conflict keeps both files and stores the remote content beside the local file, as `name.remote-HASH.ext`. Removing
/// that copy resolves the conflict in favour of the local file.
public final class Sync {
    private static final int TRIES = 3;
    private static final int SHOWN_HASH = 8;

    private final Folder here;
    private final Side there;
    private final Memory memory;
    private final Ignore ignore;
    private final Plan plan;

    public Sync(Folder here, Side there, Memory memory, Ignore ignore, Plan plan) {
        this.here = here;
        this.there = there;
        this.memory = memory;
        this.ignore = ignore;
        this.plan = plan;
    }

    /// Outcome for one path.
    public sealed interface News {
        record Done(Change change) implements News {}

        /// `copy` has the remote content.
        record Conflict(String path, String copy) implements News {}

        record Skipped(String path, String why) implements News {}

        /// The operation failed.
        record Failed(String path, String why) implements News {}
    }

    /// Execution mode.
    public enum Mode {
        APPLY,
        /// Prints the plan without executing it.
        DRY
    }

    /// Runs one round. Reports what fails and leaves it for the next round.
    public void run(Mode mode, Consumer<News> told) throws IOException {
        settle();
        Side.Scan local = here.scan(ignore);
        Side.Scan remote = there.scan(ignore);
        local.skipped().forEach((path, why) -> told.accept(new News.Skipped(path, "here " + why)));
        remote.skipped().forEach((path, why) -> told.accept(new News.Skipped(path, "there " + why)));
        try {
            for (Change change : changes(local, remote)) {
                if (mode == Mode.DRY) {
                    told.accept(new News.Done(change));
                } else {
                    attempt(change, told);
                }
            }
            memory.conflicts().forEach((path, conflict) -> told.accept(new News.Conflict(path, conflict.copy())));
        } finally {
            if (mode == Mode.APPLY) {
                memory.save();
            }
        }
    }

    /// Removes conflicts whose copy the user has deleted.
    private void settle() throws IOException {
        for (var entry : Map.copyOf(memory.conflicts()).entrySet()) {
            if (!here.has(entry.getValue().copy())) {
                memory.setAncestor(entry.getKey(), Optional.of(entry.getValue().remote()));
                memory.conflicts().remove(entry.getKey());
            }
        }
    }

    /// Excludes files that could not be read on one side, and copies of conflicts.
    private List<Change> changes(Side.Scan local, Side.Scan remote) {
        var open = new HashMap<>(memory.conflicts());
        var hidden = new TreeMap<String, String>(local.skipped());
        hidden.putAll(remote.skipped());
        open.forEach((path, conflict) -> {
            hidden.put(conflict.copy(), "");
            if (!Optional.ofNullable(local.files().get(path))
                    .equals(Optional.ofNullable(remote.files().get(path)))) {
                hidden.put(path, "");
            } else {
                memory.conflicts().remove(path);
            }
        });
        return plan.changes(
                without(memory.ancestor(), hidden), without(local.files(), hidden), without(remote.files(), hidden));
    }

    private Map<String, Version> without(Map<String, Version> files, Map<String, String> hidden) {
        var rest = new TreeMap<>(files);
        rest.keySet().removeIf(path -> hidden.containsKey(path) || ignore.covers(path));
        return rest;
    }

    private void attempt(Change change, Consumer<News> told) throws IOException {
        for (int i = 0; ; i++) {
            try {
                apply(change, told);
                return;
            } catch (IncompleteTransfer _) {
                if (i == TRIES) {
                    told.accept(new News.Skipped(
                            change.path(), "changes during each read; viv retries when no program writes to it"));
                    return;
                }
            } catch (Side.Changed _) {
                told.accept(new News.Skipped(change.path(), "changed in the meantime; the next round handles it"));
                return;
            } catch (IOException e) {
                told.accept(new News.Failed(change.path(), String.valueOf(e.getMessage())));
                return;
            } catch (SandboxException e) {
                if (!concernsOneFile(e.failure())) {
                    throw e;
                }
                told.accept(new News.Failed(change.path(), e.failure().sentence()));
                return;
            }
        }
    }

    /// Continues after a failed file.
    private static boolean concernsOneFile(Failure failure) {
        return failure instanceof Failure.FileTooLarge
                || failure instanceof Failure.TooManyFiles
                || failure instanceof Failure.WorkspaceFull
                || failure instanceof Failure.DiskFull
                || failure instanceof Failure.FileNotPermitted
                || failure instanceof Failure.WrongFileType
                || failure instanceof Failure.FileChanging
                || failure instanceof Failure.FileExists
                || failure instanceof Failure.PathEscapes
                || failure instanceof Failure.InvalidRequest;
    }

    private void apply(Change change, Consumer<News> told) throws IOException {
        String path = change.path();
        switch (change.kind()) {
            case UPLOAD ->
                memory.setAncestor(path, Optional.of(carry(change, here, there, change.local(), change.remote())));
            case DOWNLOAD ->
                memory.setAncestor(path, Optional.of(carry(change, there, here, change.remote(), change.local())));
            case DELETE_REMOTE -> {
                there.delete(path, change.remote().orElseThrow());
                memory.setAncestor(path, Optional.empty());
            }
            case DELETE_LOCAL -> {
                here.delete(path, change.local().orElseThrow());
                memory.setAncestor(path, Optional.empty());
            }
            case RECORD -> memory.setAncestor(path, change.local());
            case CONFLICT -> {
                keepConflictCopy(change);
                return;
            }
            case SKIP -> {
                told.accept(new News.Skipped(path, "changed where this direction does not look, or was deleted"));
                return;
            }
        }
        if (change.kind() != Kind.RECORD) {
            told.accept(new News.Done(change));
        }
    }

    /// Reads the content and compares it with the plan. Reads it again if it changed meanwhile.
    private Version carry(Change change, Side from, Side to, Optional<Version> version, Optional<Version> replaced)
            throws IOException {
        Path scratch = Files.createTempFile("viv-sync", "");
        try {
            Version taken = take(from, change.path(), scratch);
            if (!taken.equals(version.orElseThrow())) {
                throw new IncompleteTransfer(change.path());
            }
            return to.write(change.path(), scratch, taken, replaced);
        } finally {
            Files.deleteIfExists(scratch);
        }
    }

    private static Version take(Side from, String path, Path scratch) throws IOException {
        var digest = Hashes.begin();
        Side.Content content = from.open(path);
        try (InputStream bytes = new DigestInputStream(content.bytes(), digest);
                var out = Files.newOutputStream(scratch)) {
            bytes.transferTo(out);
        }
        return new Version(Hashes.end(digest), content.executable());
    }

    private void keepConflictCopy(Change change) throws IOException {
        Version remote = change.remote().orElseThrow();
        String copy = conflictPath(change.path(), remote.hash());
        Path scratch = Files.createTempFile("viv-sync", "");
        try {
            Version taken = take(there, change.path(), scratch);
            if (!taken.equals(remote)) {
                throw new IncompleteTransfer(change.path());
            }
            if (!here.has(copy)) {
                here.write(copy, scratch, taken, Optional.empty());
            }
        } finally {
            Files.deleteIfExists(scratch);
        }
        memory.conflicts().put(change.path(), new Memory.Conflict(copy, remote));
    }

    static String conflictPath(String path, String hash) {
        int name = path.lastIndexOf('/') + 1;
        int dot = path.lastIndexOf('.');
        int end = dot > name ? dot : path.length();
        return path.substring(0, end) + ".remote-" + hash.substring(0, SHOWN_HASH) + path.substring(end);
    }

    /// The content differs from the plan.
    private static final class IncompleteTransfer extends IOException {
        private static final long serialVersionUID = 1L;

        IncompleteTransfer(String path) {
            super(path + " changed while it was read");
        }
    }
}
