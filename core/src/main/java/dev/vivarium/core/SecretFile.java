package dev.vivarium.core;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.function.Supplier;

/// File with one line, written once and readable only by the user of the server process. Stateless.
public final class SecretFile {
    private static final String OURS_ALONE = "rw-------";

    private SecretFile() {}

    /// Returns the line in `file`. The first call writes the value of `fresh`.
    public static String read(Path file, Supplier<String> fresh) {
        try {
            if (!Files.exists(file)) {
                write(file, fresh.get());
            }
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(OURS_ALONE));
            return Files.readString(file).strip();
        } catch (IOException e) {
            throw new UncheckedIOException("reading the secret in " + file, e);
        }
    }

    /// Writes atomically. Other users can never read the file, not even during the write.
    private static void write(Path file, String line) throws IOException {
        var mode = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(OURS_ALONE));
        Path fresh = Files.createTempFile(
                file.toAbsolutePath().getParent(), file.getFileName().toString(), ".new", mode);
        try {
            Files.writeString(fresh, line + "\n");
            // A link never replaces a file: if two servers start at once, both read the secret of the first.
            Files.createLink(file, fresh);
        } catch (FileAlreadyExistsException e) {
            // The other server was first.
        } finally {
            Files.deleteIfExists(fresh);
        }
    }
}
