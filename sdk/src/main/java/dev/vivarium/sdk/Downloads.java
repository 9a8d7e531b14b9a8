package dev.vivarium.sdk;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/// Atomic downloads: writes to a temporary file beside the target and renames it. Stateless.
final class Downloads {
    private Downloads() {}

    static Path save(InputStream bytes, String name, Path target) {
        try (bytes) {
            Path file = Files.isDirectory(target) ? target.resolve(lastPart(name)) : target.toAbsolutePath();
            Path partial = Files.createTempFile(file.toAbsolutePath().getParent(), ".download-", ".part");
            try {
                Files.copy(bytes, partial, StandardCopyOption.REPLACE_EXISTING);
                return Files.move(partial, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            } finally {
                Files.deleteIfExists(partial);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String lastPart(String name) {
        return name.substring(name.lastIndexOf('/') + 1);
    }
}
