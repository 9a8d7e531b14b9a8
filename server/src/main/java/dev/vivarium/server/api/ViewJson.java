package dev.vivarium.server.api;

import dev.vivarium.json.Json;
import dev.vivarium.model.FileEntry;
import dev.vivarium.server.operation.FileTree;
import dev.vivarium.server.operation.ListFiles;
import dev.vivarium.server.operation.TerminalText;
import java.util.Locale;
import tools.jackson.core.JsonGenerator;

/// JSON of file trees and terminal texts, for responses and WebSocket messages. Stateless.
public final class ViewJson {
    private ViewJson() {}

    public static void write(JsonGenerator out, FileTree tree) {
        out.writeStringProperty("path", tree.path());
        out.writeArrayPropertyStart("files");
        for (FileEntry entry : tree.entries()) {
            String name = entry.name();
            out.writeStartObject();
            out.writeStringProperty("name", name.substring(name.lastIndexOf('/') + 1));
            out.writeStringProperty("path", tree.path().isEmpty() ? name : tree.path() + "/" + name);
            out.writeStringProperty("type", entry.type().name().toLowerCase(Locale.ROOT));
            out.writeNumberProperty("size", entry.size());
            out.writeNumberProperty("size_bytes", entry.size());
            Json.time(out, "modified_at", entry.modified());
            out.writeEndObject();
        }
        out.writeEndArray();
        out.writeNumberProperty("total_files", tree.totals().totalFiles());
        out.writeNumberProperty("total_directories", tree.totals().totalDirectories());
        out.writeNumberProperty("total_size_bytes", tree.totals().totalBytes());
        out.writeBooleanProperty("truncated", tree.totals().truncated());
    }

    /// Approximate size of the JSON of a tree.
    public static long bytes(FileTree tree) {
        return tree.entries().stream()
                .mapToLong(entry -> ListFiles.ENTRY_BYTES + 3L * entry.name().length())
                .sum();
    }

    public static void write(JsonGenerator out, TerminalText text) {
        out.writeArrayPropertyStart("lines");
        text.lines().forEach(out::writeString);
        out.writeEndArray();
        out.writeStringProperty("output", String.join("\n", text.lines()));
        text.last().ifPresent(at -> Json.time(out, "timestamp", at));
    }
}
