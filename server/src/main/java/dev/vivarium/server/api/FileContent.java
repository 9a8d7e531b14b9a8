package dev.vivarium.server.api;

import dev.vivarium.core.files.Digests;
import dev.vivarium.core.files.FileHash;
import dev.vivarium.core.files.Workspace;
import dev.vivarium.model.Failure;
import dev.vivarium.model.FileEntry;
import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Optional;

/// A file as it will be answered: its properties, the hash of its content, and the content itself if it is small. A
/// large one is read when it is sent, and then compared with the hash. Immutable.
record FileContent(FileHash hash, Optional<byte[]> bytes) {
    /// What is read at once: less than what asking the guest for a hash first would cost.
    private static final int SMALL = 256 * 1024;

    /// How often a file that does not hold still is read again.
    private static final int ATTEMPTS = 3;

    static FileContent of(Workspace files, String path) {
        return of(files, path, SMALL);
    }

    /// The same for somebody who calls something else small.
    static FileContent of(Workspace files, String path, long small) {
        SandboxException restless = new SandboxException(new Failure.FileChanging(path));
        for (int i = 0; i < ATTEMPTS; i++) {
            try (var download = files.read(path, 0, small)) {
                FileEntry entry = download.entry();
                if (entry.size() > small) {
                    break;
                }
                byte[] bytes = download.readIfSteady();
                return new FileContent(new FileHash(entry, Digests.sha256(bytes), true), Optional.of(bytes));
            } catch (SandboxException e) {
                if (!(e.failure() instanceof Failure.FileChanging)) {
                    throw e;
                }
                if (i == ATTEMPTS - 1) {
                    throw restless;
                }
            }
        }
        return new FileContent(files.hash(path), Optional.empty());
    }

    String sha256() {
        return hash.sha256();
    }

    long size() {
        return hash.entry().size();
    }

    /// Sends all of it. Lets the last piece out only if what was sent is what the hash says.
    void sendAll(Workspace files, String path, OutputStream out) throws IOException {
        if (bytes.isPresent()) {
            out.write(bytes.get());
            return;
        }
        try (var download = files.read(path, 0, size())) {
            download.transferIfItIs(sha256(), out);
        }
    }

    /// Sends a part of it. Lets the last piece out only if the file is still the one that was hashed.
    void send(Workspace files, String path, ByteRange range, OutputStream out) throws IOException {
        if (bytes.isPresent()) {
            out.write(bytes.get(), (int) range.offset(), (int) range.length());
            return;
        }
        try (var download = files.read(path, range.offset(), range.length())) {
            if (!hash.steady() || !download.entry().equals(hash.entry())) {
                throw new SandboxException(new Failure.FileChanging(path));
            }
            download.transferIfSteady(out);
        }
    }
}
