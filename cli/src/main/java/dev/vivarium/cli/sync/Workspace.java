package dev.vivarium.cli.sync;

import dev.vivarium.model.FileEntry;
import dev.vivarium.model.Listing;
import dev.vivarium.sdk.SandboxConnection;
import dev.vivarium.sdk.SandboxFiles;
import dev.vivarium.sdk.SandboxFiles.WriteMode;
import dev.vivarium.sdk.http.Transport.Body;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/// The workspace of a sandbox as one side of a sync. Its names and links are untrusted and are checked before use.
/// Confined to one thread.
public final class Workspace implements Side {
    private static final long SETTLED_MILLIS = 3000;
    private static final int EXECUTABLE = 0100;

    private final SandboxConnection connection;
    private final SandboxFiles files;
    private final String sandbox;
    private final Map<String, Seen> seen = new HashMap<>();

    public Workspace(SandboxConnection connection) {
        this.connection = connection;
        this.files = connection.files();
        this.sandbox = connection.token().sandbox();
    }

    /// The sandbox of this workspace. The stored state of a sync is not valid for a later sandbox of the thread.
    public String sandbox() {
        return sandbox;
    }

    private record Seen(FileEntry entry, boolean settled, String hash) {
        boolean isStill(FileEntry now) {
            return settled && entry.equals(now);
        }
    }

    @Override
    public Scan scan(Ignore ignore) throws IOException {
        Listing listing = files.listRecursively("");
        if (listing.truncated()) {
            throw new IOException("the workspace has more files than can be listed");
        }
        var entries = new TreeMap<String, FileEntry>();
        for (FileEntry entry : listing.entries()) {
            if (entry.type() != FileEntry.Type.DIRECTORY && !ignore.covers(entry.name())) {
                entries.put(entry.name(), entry);
            }
        }
        Map<String, String> skipped = Names.refused(entries.keySet());
        var versions = new TreeMap<String, Version>();
        for (FileEntry entry : entries.values()) {
            if (entry.type() != FileEntry.Type.FILE) {
                skipped.putIfAbsent(entry.name(), "is not a regular file");
            } else if (!skipped.containsKey(entry.name())) {
                scan(entry, versions, skipped);
            }
        }
        seen.keySet().retainAll(versions.keySet());
        if (!connection.token().sandbox().equals(sandbox)) {
            throw new Replaced();
        }
        return new Scan(versions, skipped);
    }

    private void scan(FileEntry entry, Map<String, Version> versions, Map<String, String> skipped) {
        Seen known = seen.get(entry.name());
        Optional<String> hash =
                known != null && known.isStill(entry) ? Optional.of(known.hash()) : files.sha256(entry.name());
        if (hash.isEmpty()) {
            skipped.put(entry.name(), "was deleted, cannot be read or is larger than 1 GiB");
            return;
        }
        boolean settled = System.currentTimeMillis() - entry.modified().toEpochMilli() > SETTLED_MILLIS;
        seen.put(entry.name(), new Seen(entry, settled, hash.get()));
        versions.put(entry.name(), new Version(hash.get(), (entry.mode() & EXECUTABLE) != 0));
    }

    @Override
    public Content open(String path) throws IOException {
        var file = files.find(path).orElseThrow(() -> new Changed(path));
        return new Content(file.bytes(), file.isExecutable());
    }

    @Override
    public Version write(String path, Path file, Version version, Optional<Version> expected) throws IOException {
        boolean isSameMode = expected.map(Version::executable).orElse(false) == version.executable();
        WriteMode mode =
                isSameMode ? WriteMode.KEEP : version.executable() ? WriteMode.EXECUTABLE : WriteMode.NOT_EXECUTABLE;
        long size = Files.size(file);
        if (!files.writeIf(path, expected.map(Version::hash), mode, () -> body(file, size))) {
            throw new Changed(path);
        }
        seen.remove(path);
        return version;
    }

    @Override
    public void delete(String path, Version expected) throws IOException {
        if (!files.deleteIf(path, expected.hash())) {
            throw new Changed(path);
        }
    }

    private static Body body(Path file, long size) {
        try {
            return Body.of(Files.newInputStream(file), size);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
