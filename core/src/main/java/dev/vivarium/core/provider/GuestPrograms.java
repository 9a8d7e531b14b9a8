package dev.vivarium.core.provider;

import dev.vivarium.core.Digests;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;

/// Paths of the native programs, which are resources of the `guest` module. Immutable.
///
/// @param guest    init process of a sandbox; runs inside
/// @param launcher starts machines and removes orphaned machines; runs on the host
public record GuestPrograms(Path guest, Path launcher) {
    private static final String RESOURCES = "/dev/vivarium/guest/";
    private static final int HASH_DIGITS = 16;

    public GuestPrograms {
        guest = guest.toAbsolutePath();
        launcher = launcher.toAbsolutePath();
    }

    /// Copies each program to `<name>-<hash>` in `directory` unless that file exists. Machines that run on an older
    /// program keep its file.
    public static GuestPrograms extractTo(Path directory) {
        return new GuestPrograms(extract("vivarium-guest", directory), extract("vivarium-launcher", directory));
    }

    private static Path extract(String name, Path directory) {
        try (var resource = GuestPrograms.class.getResourceAsStream(RESOURCES + name)) {
            if (resource == null) {
                throw new SandboxException(new Failure.ProviderFailed(
                        "find the program " + name, "it is not on the class path; build the guest module first"));
            }
            byte[] program = resource.readAllBytes();
            var hash = Digests.sha256(program).substring(0, HASH_DIGITS);
            var file = directory.resolve(name + "-" + hash);
            if (!Files.exists(file)) {
                install(program, file);
            }
            return file;
        } catch (IOException e) {
            throw new SandboxException(new Failure.ProviderFailed("write the program " + name, String.valueOf(e)), e);
        }
    }

    private static void install(byte[] program, Path file) throws IOException {
        Files.createDirectories(file.getParent());
        var temporary = Files.createTempFile(file.getParent(), file.getFileName() + "-", ".new");
        Files.write(temporary, program);
        Files.setPosixFilePermissions(temporary, PosixFilePermissions.fromString("r-xr-xr-x"));
        Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
    }
}
