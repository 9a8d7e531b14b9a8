package dev.vivarium.json;

import dev.vivarium.model.FileEntry;
import dev.vivarium.model.Listing;
import dev.vivarium.model.SandboxId;
import java.util.Locale;
import java.util.stream.Stream;
import tools.jackson.core.JsonGenerator;

/// JSON form of files in the session routes. Stateless.
public final class FileJson {
    private FileJson() {}

    /// Whether a listing includes directories.
    public enum Directories {
        SHOWN,
        HIDDEN;

        public boolean show(FileEntry entry) {
            return this == SHOWN || entry.type() != FileEntry.Type.DIRECTORY;
        }
    }

    /// Writes the result of an upload. `name` is the requested path, relative to the workspace.
    public static void writeUploaded(JsonGenerator out, String name, FileEntry entry) {
        out.writeStringProperty("status", "uploaded");
        out.writeStringProperty("filename", name);
        out.writeStringProperty("path", SessionJson.WORKSPACE + "/" + name);
        out.writeNumberProperty("size_bytes", entry.size());
        Json.time(out, "modified", entry.modified());
        out.writeStringProperty("permissions", entry.permissions());
    }

    public static FileEntry readUploaded(JsonFields fields) {
        return new FileEntry(
                fields.string("filename"),
                FileEntry.Type.FILE,
                mode(fields.string("permissions")),
                fields.integer("size_bytes"),
                fields.time("modified"));
    }

    /// Writes a listing from its totals and a stream of entries.
    public static void write(JsonGenerator out, SandboxId sandbox, Listing totals, Stream<FileEntry> entries) {
        out.writeStringProperty("session_id", sandbox.value());
        out.writeStringProperty("workspace_dir", SessionJson.WORKSPACE);
        out.writeArrayPropertyStart("files");
        entries.forEachOrdered(entry -> write(out, entry));
        out.writeEndArray();
        out.writeNumberProperty("total_files", totals.totalFiles());
        out.writeNumberProperty("total_directories", totals.totalDirectories());
        out.writeNumberProperty("total_size_bytes", totals.totalBytes());
        out.writeBooleanProperty("truncated", totals.truncated());
    }

    public static Listing read(JsonFields fields) {
        return new Listing(
                fields.objects("files").stream().map(FileJson::readEntry).toList(),
                fields.integer("total_files"),
                fields.integer("total_directories"),
                fields.integer("total_size_bytes"),
                fields.flag("truncated"));
    }

    private static void write(JsonGenerator out, FileEntry entry) {
        out.writeStartObject();
        out.writeStringProperty("name", entry.name());
        out.writeNumberProperty("size_bytes", entry.size());
        Json.time(out, "modified", entry.modified());
        out.writeStringProperty("permissions", entry.permissions());
        out.writeStringProperty("type", entry.type().name().toLowerCase(Locale.ROOT));
        out.writeEndObject();
    }

    private static FileEntry readEntry(JsonFields fields) {
        return new FileEntry(
                fields.string("name"),
                SessionJson.constant(FileEntry.Type.class, fields, "type"),
                mode(fields.string("permissions")),
                fields.integer("size_bytes"),
                fields.time("modified"));
    }

    /// Parses the nine permission bits in the format of `ls -l`.
    private static int mode(String permissions) {
        int mode = 0;
        for (char letter : permissions.substring(1).toCharArray()) {
            mode = mode << 1 | (letter == '-' ? 0 : 1);
        }
        return mode;
    }
}
