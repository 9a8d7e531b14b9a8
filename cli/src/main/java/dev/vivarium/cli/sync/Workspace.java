package dev.vivarium.cli.sync;

import dev.vivarium.cli.remote.Box;
import dev.vivarium.json.FileJson;
import dev.vivarium.model.FileEntry;
import dev.vivarium.model.Listing;
import dev.vivarium.sdk.http.Response;
import dev.vivarium.sdk.http.Transport.Body;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The other side as it is in practice: the workspace of a sandbox, on the data plane. Its names and links are
/// anybody's, so that those are judged before anything is done with them. Confined to one worker.
public final class Workspace implements Side {
    private static final long SETTLED_MILLIS = 3000;
    private static final int PRECONDITION_FAILED = 412;
    private static final int NOT_FOUND = 404;
    private static final int EXECUTABLE = 0100;
    private static final Pattern SHA_256 = Pattern.compile("sha-256=:([A-Za-z0-9+/]{43}=):");

    private final Box box;
    private final String sandbox;
    private final Map<String, Seen> seen = new HashMap<>();

    public Workspace(Box box) {
        this.box = box;
        this.sandbox = box.current().sandbox();
    }

    /// Whose workspace it is. A thread may get another sandbox, and what is agreed on with this one does not hold
    /// there.
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
        Listing listing = box.get(Box.file("") + "?recursive=true", FileJson::read);
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
        var files = new TreeMap<String, Version>();
        for (FileEntry entry : entries.values()) {
            if (entry.type() != FileEntry.Type.FILE) {
                skipped.putIfAbsent(entry.name(), "is not a regular file");
            } else if (!skipped.containsKey(entry.name())) {
                look(entry, files, skipped);
            }
        }
        seen.keySet().retainAll(files.keySet());
        if (!box.current().sandbox().equals(sandbox)) {
            throw new Replaced();
        }
        return new Scan(files, skipped);
    }

    private void look(FileEntry entry, Map<String, Version> files, Map<String, String> skipped) {
        Seen known = seen.get(entry.name());
        Optional<String> hash = known != null && known.isStill(entry) ? Optional.of(known.hash()) : hash(entry.name());
        if (hash.isEmpty()) {
            skipped.put(entry.name(), "went away, cannot be read or is larger than 1 GiB");
            return;
        }
        boolean settled = System.currentTimeMillis() - entry.modified().toEpochMilli() > SETTLED_MILLIS;
        seen.put(entry.name(), new Seen(entry, settled, hash.get()));
        files.put(entry.name(), new Version(hash.get(), (entry.mode() & EXECUTABLE) != 0));
    }

    /// Asked for without the bytes.
    private Optional<String> hash(String path) {
        var wanted = Map.of("Want-Repr-Digest", "sha-256=1");
        try (Response reply = box.send("HEAD", Box.file(path), wanted, Body::none)) {
            return reply.status() == 200 ? reply.header("Repr-Digest").flatMap(Workspace::sha256) : Optional.empty();
        }
    }

    /// The SHA-256 of a `Repr-Digest`, in hexadecimal digits.
    private static Optional<String> sha256(String digests) {
        Matcher matcher = SHA_256.matcher(digests);
        return matcher.find()
                ? Optional.of(HexFormat.of().formatHex(Base64.getDecoder().decode(matcher.group(1))))
                : Optional.empty();
    }

    @Override
    public Content open(String path) throws IOException {
        var reply = box.send("GET", Box.file(path), Map.of("Accept", "application/octet-stream"), Body::none);
        if (reply.status() == NOT_FOUND) {
            reply.close();
            throw new Changed(path);
        }
        return new Content(reply.requireSuccess().body(), Box.isExecutable(reply));
    }

    @Override
    public Version write(String path, Path file, Version version, Optional<Version> expected) throws IOException {
        var headers = new HashMap<>(Box.onlyIf(expected.map(Version::hash).map(Workspace::tag)));
        if (expected.map(Version::executable).orElse(false) != version.executable()) {
            headers.put(Box.MODE, version.executable() ? "755" : "644");
        }
        long size = Files.size(file);
        try (Response reply = box.send("PUT", Box.file(path), headers, () -> body(file, size))) {
            requireDone(reply, path);
        }
        seen.remove(path);
        return version;
    }

    @Override
    public void delete(String path, Version expected) throws IOException {
        var condition = Map.of("If-Match", tag(expected.hash()));
        try (Response reply = box.send("DELETE", Box.file(path), condition, Body::none)) {
            if (reply.status() != NOT_FOUND) {
                requireDone(reply, path);
            }
        }
    }

    private static void requireDone(Response reply, String path) throws Changed {
        if (reply.status() == PRECONDITION_FAILED) {
            throw new Changed(path);
        }
        reply.requireSuccess();
    }

    private static Body body(Path file, long size) {
        try {
            return new Body("application/octet-stream", Files.newInputStream(file), size);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String tag(String hash) {
        return '"' + hash + '"';
    }
}
