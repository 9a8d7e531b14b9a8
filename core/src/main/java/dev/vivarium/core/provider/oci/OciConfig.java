package dev.vivarium.core.provider.oci;

import dev.vivarium.core.provider.GuestPrograms;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/// Configuration of the OCI provider. Immutable.
///
/// @param home          data directory of the server, with machines and disks
/// @param programs      guest and launcher on the host
/// @param runtimeBinary program of the runtime on the host
public record OciConfig(Path home, GuestPrograms programs, OciRuntime runtime, Path runtimeBinary) {
    private static final List<String> PLACES =
            List.of("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin");

    public OciConfig {
        home = home.toAbsolutePath().normalize();
        runtimeBinary = runtimeBinary.toAbsolutePath();
    }

    /// Finds the program of the runtime in the usual directories.
    public static OciConfig of(Path home, GuestPrograms programs, OciRuntime runtime) {
        if (runtime == OciRuntime.NATIVE) {
            return new OciConfig(home, programs, runtime, programs.launcher());
        }
        var binary = find(runtime.program())
                .orElseThrow(() -> new SandboxException(new Failure.Unsupported(
                        "the oci provider",
                        runtime.program() + " is not installed; install the package " + runtime.program())));
        return new OciConfig(home, programs, runtime, binary);
    }

    static Optional<Path> find(String program) {
        return PLACES.stream()
                .map(place -> Path.of(place, program))
                .filter(Files::isExecutable)
                .findFirst();
    }
}
