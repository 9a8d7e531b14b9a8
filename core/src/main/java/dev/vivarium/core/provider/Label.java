package dev.vivarium.core.provider;

import dev.vivarium.core.StoreId;
import java.io.IOException;
import java.io.StringReader;
import java.io.StringWriter;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;

/// File beside a disk or a snapshot with the id of its store and, in `fields`, its owner. With the label, a server
/// whose store has lost the row can identify the owner. It contains no secrets. Immutable.
public record Label(StoreId store, Map<String, String> fields) {
    static final String SUFFIX = ".label";

    private static final String STORE = "store";
    private static final long LONGEST = 64 * 1024;

    public Label {
        fields = Map.copyOf(fields);
    }

    /// Empty if the file is missing or is not a label.
    static Optional<Label> read(Path file) throws IOException {
        if (!Files.isRegularFile(file) || Files.size(file) > LONGEST) {
            return Optional.empty();
        }
        var properties = new Properties();
        try {
            properties.load(new StringReader(Files.readString(file, StandardCharsets.UTF_8)));
        } catch (IllegalArgumentException | CharacterCodingException e) {
            return Optional.empty();
        }
        var fields = new HashMap<String, String>();
        properties.stringPropertyNames().forEach(name -> fields.put(name, properties.getProperty(name)));
        var store = Optional.ofNullable(fields.remove(STORE)).flatMap(StoreId::parse);
        return store.map(id -> new Label(id, fields));
    }

    /// Replaces the file atomically. Does not flush it to disk: only the store must survive a power failure.
    void write(Path file) throws IOException {
        var properties = new Properties();
        properties.setProperty(STORE, store.value());
        properties.putAll(fields);
        var text = new StringWriter();
        properties.store(text, null);
        var unfinished = FileTrees.unfinished(file);
        FileTrees.writePrivately(unfinished, text.toString());
        Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    static void delete(Path file) throws IOException {
        Files.deleteIfExists(FileTrees.unfinished(file));
        Files.deleteIfExists(file);
    }
}
