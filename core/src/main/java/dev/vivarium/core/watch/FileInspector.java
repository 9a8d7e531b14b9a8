package dev.vivarium.core.watch;

import dev.vivarium.core.files.Download;
import dev.vivarium.core.files.FileHash;
import dev.vivarium.core.files.Workspace;
import dev.vivarium.model.Failure;
import dev.vivarium.model.FileEntry;
import dev.vivarium.model.SandboxException;
import java.util.Optional;
import java.util.function.LongSupplier;

/// Finds out what is at a path and what it holds, as far as that is cheap: small files are read, larger ones hashed,
/// huge ones left alone, and no more of either than a sandbox is allowed in a second. Nothing is waited for: what is no
/// file, or does not hold still, is only named. Confined to one worker.
final class FileInspector {
    /// Both sides of a difference are at most this long.
    static final long SMALL = 64 * 1024;

    private static final long LARGE = 8 << 20;

    /// What it costs to read a file, besides its bytes.
    private static final int FEE = 1024;

    private final RateBucket reading;
    private final RateBucket hashing;

    FileInspector(LongSupplier nanos) {
        this.reading = new RateBucket(2 << 20, 512 << 10, nanos);
        this.hashing = new RateBucket(4 * LARGE, LARGE, nanos);
    }

    /// What is at `path`, without what it holds.
    static Optional<Version> find(Workspace files, String path) {
        try {
            return files.find(path).map(entry -> Version.of(entry, path));
        } catch (SandboxException e) {
            requireHarmless(e);
            return Optional.empty();
        }
    }

    /// The same with what it holds, as far as that can be had now.
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

    /// What is not there any more, may not be read or cannot be named is no mishap.
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
