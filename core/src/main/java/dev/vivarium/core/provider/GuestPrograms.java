package dev.vivarium.core.guest;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/// The guest program, which travels as a resource and is put on the disk once. Stateless.
public final class GuestBinary {
    private static final String RESOURCE = "/dev/vivarium/guest/vivarium-guest";
    private static final int HASH_DIGITS = 16;

    private GuestBinary() {}

    /// Copies the program to `vivarium-guest-<hash>` in `directory`, unless it is there, and names it. Machines
    /// that run on an older program keep their file.
    public static Path extractTo(Path directory) {
        try (var resource = GuestBinary.class.getResourceAsStream(RESOURCE)) {
            if (resource == null) {
                throw new SandboxException(new Failure.ProviderFailed(
                        "find the guest program", "it is not on the class path; build the guest module first"));
            }
            byte[] program = resource.readAllBytes();
            var file = directory.resolve("vivarium-guest-" + hash(program));
            if (!Files.exists(file)) {
                install(program, file);
            }
            return file;
        } catch (IOException e) {
            throw new SandboxException(new Failure.ProviderFailed("write the guest program", String.valueOf(e)), e);
        }
    }

    private static void install(byte[] program, Path file) throws IOException {
        Files.createDirectories(file.getParent());
        var unready = Files.createTempFile(file.getParent(), "vivarium-guest-", ".new");
        Files.write(unready, program);
        Files.setPosixFilePermissions(unready, PosixFilePermissions.fromString("r-xr-xr-x"));
        Files.move(unready, file, StandardCopyOption.ATOMIC_MOVE);
    }

    private static String hash(byte[] program) {
        try {
            var digest = MessageDigest.getInstance("SHA-256").digest(program);
            return HexFormat.of().formatHex(digest).substring(0, HASH_DIGITS);
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java platform has SHA-256", e);
        }
    }
}
