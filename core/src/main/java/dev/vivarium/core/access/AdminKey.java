package dev.vivarium.core.access;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.regex.Pattern;

/// The admin's key, which the first start writes to a file that only the server's own user can read. Stateless.
final class AdminKey {
    private static final String FILE = "credentials";
    private static final String OURS_ALONE = "rw-------";

    /// What an operator may configure: long enough not to be guessed, and safe in a header.
    private static final Pattern ACCEPTABLE = Pattern.compile("[\\x21-\\x7e]{16,256}");

    private AdminKey() {}

    static String checked(String configured) {
        if (!ACCEPTABLE.matcher(configured).matches()) {
            throw new SandboxException(new Failure.InvalidRequest(
                    "api-key", "must be 16 to 256 printable ASCII characters without spaces"));
        }
        return configured;
    }

    /// The key in `home`; the first call makes it.
    static String of(Path home, SecureRandom random) {
        Path file = home.resolve(FILE);
        try {
            if (!Files.exists(file)) {
                write(file, random(random));
            }
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(OURS_ALONE));
            String key = Files.readString(file).strip();
            if (!ACCEPTABLE.matcher(key).matches()) {
                throw new SandboxException(new Failure.InvalidRequest(
                        file.toString(), "does not hold a key; remove it and the next start makes a new one"));
            }
            return key;
        } catch (IOException e) {
            throw new UncheckedIOException("reading the admin key in " + file, e);
        }
    }

    static String random(SecureRandom random) {
        byte[] bytes = new byte[20];
        random.nextBytes(bytes);
        return "e2b_" + HexFormat.of().formatHex(bytes);
    }

    /// Whole or not at all, and never readable by others, not even for a moment.
    private static void write(Path file, String key) throws IOException {
        var mode = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(OURS_ALONE));
        Path fresh = Files.createTempFile(file.toAbsolutePath().getParent(), FILE, ".new", mode);
        try {
            Files.writeString(fresh, key + "\n");
            // A link does not replace: of two servers that start at once, both read the first one's key.
            Files.createLink(file, fresh);
        } catch (FileAlreadyExistsException e) {
            // The other one was first.
        } finally {
            Files.deleteIfExists(fresh);
        }
    }
}
