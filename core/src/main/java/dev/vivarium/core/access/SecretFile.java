package dev.vivarium.core.access;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.function.Supplier;

/// A file of one line that only the server's own user can read, written once. Stateless.
final class SecretFile {
    private static final String OURS_ALONE = "rw-------";

    private SecretFile() {}

    /// The line in `file`; the first call writes what `fresh` makes.
    static String read(Path file, Supplier<String> fresh) {
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

    /// Whole or not at all, and never readable by others, not even for a moment.
    private static void write(Path file, String line) throws IOException {
        var mode = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(OURS_ALONE));
        Path fresh = Files.createTempFile(
                file.toAbsolutePath().getParent(), file.getFileName().toString(), ".new", mode);
        try {
            Files.writeString(fresh, line + "\n");
            // A link does not replace: of two servers that start at once, both read the first one's secret.
            Files.createLink(file, fresh);
        } catch (FileAlreadyExistsException e) {
            // The other one was first.
        } finally {
            Files.deleteIfExists(fresh);
        }
    }
}
