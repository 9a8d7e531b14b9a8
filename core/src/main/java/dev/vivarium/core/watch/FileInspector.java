package dev.vivarium.core.watch;

import dev.vivarium.core.files.Download;
import dev.vivarium.core.files.FileHash;
import dev.vivarium.core.files.Workspace;
import dev.vivarium.model.Failure;
import dev.vivarium.model.FileEntry;
import dev.vivarium.model.SandboxException;
import java.util.Optional;
import java.util.function.LongSupplier;

/// Inspector of paths and their content, within rate limits. Confined to one thread.
///
/// It reads small files, hashes larger ones and skips huge ones. It never blocks: for a path that is not a regular
/// file, or that changes during the read, it returns only the metadata.
final class FileInspector {
    /// Maximum size of a file that is read. It also bounds both sides of a diff.
    static final long SMALL = 64 * 1024;

    private static final long LARGE = 8 << 20;

    /// Fixed cost of reading a file, in addition to its bytes.
    private static final int FEE = 1024;

    private final RateBucket reading;
    private final RateBucket hashing;

    FileInspector(LongSupplier nanos) {
        this.reading = new RateBucket(2 << 20, 512 << 10, nanos);
        this.hashing = new RateBucket(4 * LARGE, LARGE, nanos);
    }

    static Optional<Version> find(Workspace files, String path) {
        try {
            return files.find(path).map(entry -> Version.of(entry, path));
        } catch (SandboxException e) {
            requireHarmless(e);
            return Optional.empty();
        }
    }

    /// Returns the version with its content, as far as the rate limits and the file permit.
    Version read(Workspace files, Version seen) {
        if (seen.type() != FileEntry.Type.FILE) {
            return seen;
        }
        try {
            if (seen.size() <= SMALL) {
                return reading.tryTake(seen.size() + FEE) ? readSmall(files, seen) : seen;
            }
            return seen.size() <= LARGE && hashing.tryTake(seen.size()) ? hash(files, seen) : seen;
        } catch (SandboxException e) {
            requireHarmless(e);
            return seen;
        }
    }

    private static Version readSmall(Workspace files, Version seen) {
        try (Download download = files.read(seen.path(), 0, SMALL)) {
            FileEntry entry = download.entry();
            return entry.size() > SMALL
                    ? seen
                    : Version.of(entry, seen.path()).with(Content.of(download.readIfSteady()));
        }
    }

    private static Version hash(Workspace files, Version seen) {
        FileHash hash = files.hash(seen.path());
        return hash.steady() ? Version.of(hash.entry(), seen.path()).with(Content.hash(hash.sha256())) : seen;
    }

    /// Rethrows a failure, unless the path was deleted, is unreadable or cannot be named.
    private static void requireHarmless(SandboxException e) {
        switch (e.failure()) {
            case Failure.NoSuchFile _,
                    Failure.WrongFileType _,
                    Failure.FileChanging _,
                    Failure.PathEscapes _,
                    Failure.FileNotPermitted _,
                    Failure.InvalidRequest _ -> {}
            case Failure other -> throw new SandboxException(other, e);
        }
    }
}
