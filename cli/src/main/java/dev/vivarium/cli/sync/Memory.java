package dev.vivarium.cli.sync;

import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import tools.jackson.core.JsonGenerator;

/// Last common state of both sides and unresolved conflicts, stored in a file. Confined to one thread.
public final class Memory {
    private final Path file;
    private final Map<String, Version> ancestor = new TreeMap<>();
    private final Map<String, Conflict> conflicts = new TreeMap<>();

    /// Conflict. `copy` is the local file with the remote content.
    public record Conflict(String copy, Version remote) {}

    private Memory(Path file) {
        this.file = file;
    }

    public static Memory load(Path file) throws IOException {
        var memory = new Memory(file);
        if (Files.exists(file)) {
            JsonFields fields = Json.answer(Files.readString(file));
            fields.objects("files").forEach(one -> memory.ancestor.put(one.string("path"), version(one)));
            fields.objects("conflicts")
                    .forEach(one ->
                            memory.conflicts.put(one.string("path"), new Conflict(one.string("copy"), version(one))));
        }
        return memory;
    }

    public Map<String, Version> ancestor() {
        return ancestor;
    }

    public Map<String, Conflict> conflicts() {
        return conflicts;
    }

    void setAncestor(String path, Optional<Version> version) {
        version.ifPresentOrElse(v -> ancestor.put(path, v), () -> ancestor.remove(path));
    }

    /// Writes a new file and renames it, so that a crash leaves the old or the new content.
    public void save() throws IOException {
        Path directory = file.toAbsolutePath().getParent();
        if (directory == null) {
            throw new IOException(file + " has no directory");
        }
        Files.createDirectories(directory);
        Path fresh = Files.createTempFile(directory, "sync", ".tmp");
        try (var out = Files.newOutputStream(fresh)) {
            Json.write(out, json -> {
                json.writeArrayPropertyStart("files");
                ancestor.forEach((path, version) -> {
                    json.writeStartObject();
                    write(json, path, version);
                    json.writeEndObject();
                });
                json.writeEndArray();
                json.writeArrayPropertyStart("conflicts");
                conflicts.forEach((path, conflict) -> {
                    json.writeStartObject();
                    write(json, path, conflict.remote());
                    json.writeStringProperty("copy", conflict.copy());
                    json.writeEndObject();
                });
                json.writeEndArray();
            });
        }
        Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    private static void write(JsonGenerator json, String path, Version version) {
        json.writeStringProperty("path", path);
        json.writeStringProperty("hash", version.hash());
        json.writeBooleanProperty("executable", version.executable());
    }

    private static Version version(JsonFields fields) {
        return new Version(fields.string("hash"), fields.flag("executable"));
    }
}
