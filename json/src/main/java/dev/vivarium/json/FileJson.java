package dev.vivarium.json;

import static dev.vivarium.json.IdTypes.SESSION_ID;
import static dev.vivarium.json.JsonType.BOOLEAN;
import static dev.vivarium.json.JsonType.LONG;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.JsonType.TIME;
import static dev.vivarium.json.JsonType.constants;
import static dev.vivarium.json.JsonType.list;
import static dev.vivarium.json.ObjectType.constant;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;

import dev.vivarium.model.FileEntry;
import dev.vivarium.model.Listing;
import dev.vivarium.model.SandboxId;
import java.util.stream.Stream;

/// JSON form of files in the session routes. Stateless.
public final class FileJson {
    static final ObjectType<FileEntry> ENTRY = object(
                    "File",
                    field("name", STRING, "Relative to the workspace.", FileEntry::name),
                    field("size_bytes", LONG, FileEntry::size),
                    field("modified", TIME, FileEntry::modified),
                    field("permissions", STRING, "In the format of `ls -l`.", FileEntry::permissions),
                    field("type", constants(FileEntry.Type.class), FileEntry::type))
            .readBy(FileJson::readEntry);

    private static final JsonType<Stream<FileEntry>> ENTRIES =
            JsonType.written(list(ENTRY).schema(), (out, entries) -> {
                out.writeStartArray();
                entries.forEachOrdered(entry -> ENTRY.write(out, entry));
                out.writeEndArray();
            });

    /// A listing whose entries need not be in memory.
    public static final ObjectType<Listed> FILES = object(
            "Files",
            field("session_id", SESSION_ID, Listed::sandbox),
            field("workspace_dir", STRING, listed -> SessionJson.WORKSPACE),
            field("files", ENTRIES, "Newest first.", Listed::entries),
            field("total_files", LONG, listed -> listed.totals().totalFiles()),
            field("total_directories", LONG, listed -> listed.totals().totalDirectories()),
            field("total_size_bytes", LONG, listed -> listed.totals().totalBytes()),
            field("truncated", BOOLEAN, listed -> listed.totals().truncated()));

    public static final ObjectType<Listed> DIRECTORY = object(
                    "Directory", field("path", STRING, "The directory, relative to the workspace.", Listed::path))
            .and("Directory", FILES);

    /// A file after an upload.
    public static final ObjectType<FileEntry> UPLOADED = object(
                    "Uploaded",
                    constant("status", "uploaded"),
                    field("filename", STRING, FileEntry::name),
                    field("path", STRING, entry -> SessionJson.WORKSPACE + "/" + entry.name()),
                    field("size_bytes", LONG, FileEntry::size),
                    field("modified", TIME, FileEntry::modified),
                    field("permissions", STRING, FileEntry::permissions))
            .readBy(FileJson::readUploaded);

    /// @param entries used once
    public record Listed(String path, SandboxId sandbox, Listing totals, Stream<FileEntry> entries) {}

    private FileJson() {}

    private static FileEntry readUploaded(JsonFields fields) {
        return new FileEntry(
                fields.string("filename"),
                FileEntry.Type.FILE,
                mode(fields.string("permissions")),
                fields.integer("size_bytes"),
                fields.time("modified"));
    }

    public static Listing read(JsonFields fields) {
        return new Listing(
                fields.objects("files").stream().map(ENTRY::read).toList(),
                fields.integer("total_files"),
                fields.integer("total_directories"),
                fields.integer("total_size_bytes"),
                fields.flag("truncated"));
    }

    private static FileEntry readEntry(JsonFields fields) {
        return new FileEntry(
                fields.string("name"),
                fields.required("type", JsonType.constants(FileEntry.Type.class)),
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
