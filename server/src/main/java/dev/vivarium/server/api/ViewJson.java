package dev.vivarium.server.api;

import static dev.vivarium.json.JsonType.BOOLEAN;
import static dev.vivarium.json.JsonType.LONG;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.JsonType.TIME;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.json.ObjectType.optional;

import dev.vivarium.json.JsonType;
import dev.vivarium.json.ObjectType;
import dev.vivarium.model.FileEntry;
import dev.vivarium.server.operation.ListFiles;
import dev.vivarium.server.operation.ListFiles.FileTree;
import dev.vivarium.server.operation.ReadTerminal.TerminalText;

/// JSON of file trees and terminal texts, for responses and WebSocket messages. Stateless.
public final class ViewJson {
    private static final ObjectType<Line> LINE = object(
            "",
            field("name", STRING, line -> line.name().substring(line.name().lastIndexOf('/') + 1)),
            field("path", STRING, line -> line.root().isEmpty() ? line.name() : line.root() + "/" + line.name()),
            field(
                    "type",
                    JsonType.constants(FileEntry.Type.class),
                    line -> line.entry().type()),
            field(
                    "size",
                    LONG,
                    "The same as `size_bytes`.",
                    line -> line.entry().size()),
            field("size_bytes", LONG, line -> line.entry().size()),
            field("modified_at", TIME, line -> line.entry().modified()));

    public static final ObjectType<FileTree> TREE = object(
            "FileTree",
            field("path", STRING, FileTree::path),
            field(
                    "files",
                    JsonType.list(LINE),
                    tree -> tree.entries().stream()
                            .map(entry -> new Line(tree.path(), entry))
                            .toList()),
            field("total_files", LONG, tree -> tree.totals().totalFiles()),
            field("total_directories", LONG, tree -> tree.totals().totalDirectories()),
            field("total_size_bytes", LONG, tree -> tree.totals().totalBytes()),
            field("truncated", BOOLEAN, tree -> tree.totals().truncated()));

    public static final ObjectType<TerminalText> TERMINAL = object(
            "TerminalText",
            field("lines", JsonType.list(STRING), TerminalText::lines),
            field("output", STRING, "The lines as one text.", text -> String.join("\n", text.lines())),
            optional(
                    "timestamp",
                    TIME,
                    "When the last line was written. Absent if there is no output.",
                    TerminalText::last));

    private record Line(String root, FileEntry entry) {
        private String name() {
            return entry.name();
        }
    }

    private ViewJson() {}

    /// Returns the approximate size of the JSON of a tree.
    public static long bytes(FileTree tree) {
        return tree.entries().stream()
                .mapToLong(entry -> ListFiles.ENTRY_BYTES + 3L * entry.name().length())
                .sum();
    }
}
