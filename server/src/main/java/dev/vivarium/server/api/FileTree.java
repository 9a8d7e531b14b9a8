package dev.vivarium.server.api;

import dev.vivarium.core.files.ListDepth;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.json.Json;
import dev.vivarium.model.Failure;
import dev.vivarium.model.FileEntry;
import dev.vivarium.model.Listing;
import dev.vivarium.model.SandboxException;
import java.util.List;
import java.util.Locale;
import java.util.function.LongConsumer;
import tools.jackson.core.JsonGenerator;

/// What is in a directory of a workspace, some levels deep, by name. Looking neither wakes a sandbox nor is a use of
/// it. Immutable.
public final class FileTree {
    private static final int MAX_ENTRIES = 10_000;
    private static final String WORKSPACE = "/workspace";

    /// Memory of an entry without a long name, in bytes.
    private static final int ENTRY_BYTES = 200;

    /// How deep one can look.
    static final long DEEPEST = 64;

    private final String path;
    private final Listing totals;
    private final List<FileEntry> entries;

    private FileTree(String path, Listing totals, List<FileEntry> entries) {
        this.path = path;
        this.totals = totals;
        this.entries = entries;
    }

    /// @param name the path of a directory relative to the workspace, which is `""`; or its name inside the sandbox
    ///
    /// @param reserve is called with each number of bytes before they are held; it throws to refuse them
    public static FileTree of(Sandbox sandbox, String name, long depth, LongConsumer reserve) {
        String path = inWorkspace(name);
        if (depth < 1 || depth > DEEPEST) {
            throw new SandboxException(new Failure.InvalidRequest("depth", "must be between 1 and " + DEEPEST));
        }
        var listing = sandbox.look().list(path, depth == 1 ? ListDepth.TOP : ListDepth.ALL, MAX_ENTRIES, reserve);
        reserve.accept((long) ENTRY_BYTES * listing.size());
        List<FileEntry> entries = listing.entries()
                .filter(entry -> level(entry.name()) <= depth)
                .sorted((a, b) -> a.name().compareTo(b.name()))
                .toList();
        return new FileTree(path, listing.totals(), entries);
    }

    private static String inWorkspace(String name) {
        if (name.equals(WORKSPACE)) {
            return "";
        }
        return name.startsWith(WORKSPACE + "/") ? name.substring(WORKSPACE.length() + 1) : name;
    }

    private static long level(String name) {
        return 1 + name.chars().filter(c -> c == '/').count();
    }

    /// Approximate size of the output of [#write].
    public long jsonBytes() {
        return entries.stream()
                .mapToLong(entry -> ENTRY_BYTES + 3L * entry.name().length())
                .sum();
    }

    public void write(JsonGenerator out) {
        out.writeStringProperty("path", path);
        out.writeArrayPropertyStart("files");
        for (FileEntry entry : entries) {
            String name = entry.name();
            out.writeStartObject();
            out.writeStringProperty("name", name.substring(name.lastIndexOf('/') + 1));
            out.writeStringProperty("path", path.isEmpty() ? name : path + "/" + name);
            out.writeStringProperty("type", entry.type().name().toLowerCase(Locale.ROOT));
            out.writeNumberProperty("size", entry.size());
            out.writeNumberProperty("size_bytes", entry.size());
            Json.time(out, "modified_at", entry.modified());
            out.writeEndObject();
        }
        out.writeEndArray();
        out.writeNumberProperty("total_files", totals.totalFiles());
        out.writeNumberProperty("total_directories", totals.totalDirectories());
        out.writeNumberProperty("total_size_bytes", totals.totalBytes());
        out.writeBooleanProperty("truncated", totals.truncated());
    }
}
