package dev.vivarium.server.api;

import dev.vivarium.core.Digests;
import dev.vivarium.core.files.Download;
import dev.vivarium.core.files.FileHash;
import dev.vivarium.core.files.FileVersion;
import dev.vivarium.core.files.Workspace;
import dev.vivarium.model.Failure;
import dev.vivarium.model.FileEntry;
import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Instant;
import java.util.Optional;

/// Properties of a file, the source of its `ETag`, and its content if the file is small. Immutable.
///
/// The server reads the content of a large file while it sends the response, and then compares it with the `ETag`.
record FileContent(FileEntry entry, Identity identity, Optional<byte[]> bytes) {
    /// Maximum size of a file that the server reads at once. A separate call for the hash would cost more.
    private static final int SMALL = 256 * 1024;

    /// Maximum number of attempts to read a file that changes during the read.
    private static final int ATTEMPTS = 3;

    /// The validator of this content.
    sealed interface Identity {
        record Hash(String sha256, boolean steady) implements Identity {}

        /// @param settled whether no later content can have this version
        record Version(FileVersion version, boolean settled) implements Identity {}

        /// No identity, because the guest has an earlier version.
        record Unknown() implements Identity {}
    }

    /// Returns the file with its hash, or with its version if the file is too large for a hash.
    static FileContent of(Workspace files, String path) {
        FileContent content = of(files, path, SMALL);
        boolean isLarge =
                content.size() > FileVersion.ALWAYS_HASHED_BYTES && content.identity instanceof Identity.Version;
        if (content.bytes.isPresent() || isLarge) {
            return content;
        }
        FileHash hash = files.hash(path);
        return new FileContent(hash.entry(), new Identity.Hash(hash.sha256(), hash.steady()), Optional.empty());
    }

    /// Returns the file, with its bytes if there are at most `small` of them.
    static FileContent of(Workspace files, String path, long small) {
        SandboxException changing = new SandboxException(new Failure.FileChanging(path));
        for (int i = 0; i < ATTEMPTS; i++) {
            try (var download = files.read(path, 0, small)) {
                FileEntry entry = download.entry();
                if (entry.size() > small) {
                    return new FileContent(entry, version(download), Optional.empty());
                }
                byte[] bytes = download.readIfSteady();
                return new FileContent(entry, new Identity.Hash(Digests.sha256(bytes), true), Optional.of(bytes));
            } catch (SandboxException e) {
                if (!(e.failure() instanceof Failure.FileChanging)) {
                    throw e;
                }
            }
        }
        throw changing;
    }

    private static Identity version(Download download) {
        var now = Instant.now();
        return download.version()
                .<Identity>map(version -> new Identity.Version(version, version.isSettled(now)))
                .orElse(new Identity.Unknown());
    }

    /// Returns the opaque part of the `ETag`.
    String tag() {
        return switch (identity) {
            case Identity.Hash(String sha256, boolean _) -> sha256;
            case Identity.Version(FileVersion version, boolean settled) -> (settled ? "" : "new-") + version.tag();
            case Identity.Unknown _ -> "";
        };
    }

    /// Returns the hash of the content. Empty if the file is larger than 1 GiB or changes during the call.
    Optional<String> sha256(Workspace files, String path) {
        if (identity instanceof Identity.Hash(String sha256, boolean steady)) {
            return Optional.of(sha256).filter(_ -> steady);
        }
        if (size() > FileVersion.MAX_HASHED_BYTES) {
            return Optional.empty();
        }
        FileHash hash = files.hash(path);
        return Optional.of(hash.sha256())
                .filter(_ -> hash.steady() && hash.entry().equals(entry));
    }

    /// Reports whether the `ETag` is strong: any other content has another [#tag].
    boolean isStrong() {
        return !(identity instanceof Identity.Version(var _, boolean settled)) || settled;
    }

    long size() {
        return entry.size();
    }

    /// Sends the whole file. Sends the last piece only if the sent bytes match the `ETag`.
    void sendAll(Workspace files, String path, OutputStream out) throws IOException {
        if (bytes.isPresent()) {
            out.write(bytes.get());
            return;
        }
        try (var download = files.read(path, 0, size())) {
            if (identity instanceof Identity.Hash(String sha256, boolean _)) {
                download.transferIfItIs(sha256, out);
            } else {
                requireSame(download);
                download.transferIfSteady(out);
            }
        }
    }

    /// Sends a range of the file. Sends the last piece only if the file still matches the `ETag`.
    void send(Workspace files, String path, ByteRange range, OutputStream out) throws IOException {
        if (bytes.isPresent()) {
            out.write(bytes.get(), (int) range.offset(), (int) range.length());
            return;
        }
        try (var download = files.read(path, range.offset(), range.length())) {
            requireSame(download);
            download.transferIfSteady(out);
        }
    }

    private void requireSame(Download download) {
        boolean isSame = switch (identity) {
            case Identity.Hash(String _, boolean steady) -> steady;
            case Identity.Version(FileVersion version, boolean _) ->
                download.version().filter(version::equals).isPresent();
            case Identity.Unknown _ -> false;
        };
        if (!isSame || !download.entry().equals(entry)) {
            throw new SandboxException(new Failure.FileChanging(entry.name()));
        }
    }
}
