package dev.vivarium.server.settings;

import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/// Flat YAML file of settings. It is a separate class, so that the JVM loads the library only if there is a file.
/// Stateless.
final class YamlFile {
    private YamlFile() {}

    /// Returns keys and values as text. A list becomes one line per entry.
    static Map<String, String> read(Path file) {
        var values = new LinkedHashMap<String, String>();
        Object document = parse(file);
        if (document == null) {
            return values;
        }
        if (!(document instanceof Map<?, ?> entries)) {
            throw refused(file, "must hold one 'key: value' a line");
        }
        entries.forEach((key, value) -> values.put(String.valueOf(key), text(file, String.valueOf(key), value)));
        return values;
    }

    private static @org.jspecify.annotations.Nullable Object parse(Path file) {
        try {
            var settings = LoadSettings.builder()
                    .setLabel(file.getFileName().toString())
                    .build();
            return new Load(settings).loadFromString(Files.readString(file));
        } catch (YamlEngineException e) {
            throw refused(file, "is not YAML: " + e.getMessage());
        } catch (IOException e) {
            throw new UncheckedIOException("reading " + file, e);
        }
    }

    private static String text(Path file, String key, @org.jspecify.annotations.Nullable Object value) {
        if (value instanceof List<?> list) {
            return list.stream().map(String::valueOf).collect(Collectors.joining("\n"));
        }
        if (value == null || value instanceof Map<?, ?>) {
            throw refused(file, "must give '" + key + "' a value or a list");
        }
        return String.valueOf(value);
    }

    private static SandboxException refused(Path file, String rule) {
        return SandboxException.invalid(file.toString(), rule);
    }
}
