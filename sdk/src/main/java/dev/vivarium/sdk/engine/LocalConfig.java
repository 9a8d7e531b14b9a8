package dev.vivarium.sdk.engine;

import dev.vivarium.model.Limits;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/// How an engine in this process is set up. Immutable.
///
/// @param home        where it keeps its sandboxes and its records; if absent, a new temporary directory that goes away
///                    with the client
/// @param isolation   what separates a sandbox from this machine
/// @param image       the root file system of every sandbox; `host` needs no preparation
/// @param poolSize    how many sandboxes wait ready
/// @param maxSandboxes how many there may be at once
/// @param idleTimeout how long a sandbox lives without being used
/// @param limits      what one sandbox may use
/// @param onClose     what becomes of the sandboxes when the client is closed
public record LocalConfig(
        Optional<Path> home,
        Isolation isolation,
        String image,
        int poolSize,
        int maxSandboxes,
        Duration idleTimeout,
        Limits limits,
        OnClose onClose) {
    /// What separates a sandbox from this machine.
    public enum Isolation {
        /// Isolated machines, with everything that the server gives. Needs root.
        OCI,
        /// None: commands are processes of this machine and can do what this user can. For tests and laptops.
        PROCESS
    }

    /// What becomes of the sandboxes when the client is closed.
    public enum OnClose {
        END,
        /// They go on, and a later client with the same home finds them by their threads.
        KEEP
    }

    /// Containers in a temporary home, two of them ready, all ended with the client.
    public static LocalConfig standard() {
        return new LocalConfig(
                Optional.empty(), Isolation.OCI, "host", 2, 64, Duration.ofMinutes(30), Limits.STANDARD, OnClose.END);
    }

    /// Plain processes instead of containers: no root needed, no isolation given.
    public static LocalConfig withoutIsolation() {
        return standard().withIsolation(Isolation.PROCESS);
    }

    public LocalConfig withHome(Path wanted) {
        return new LocalConfig(
                Optional.of(wanted), isolation, image, poolSize, maxSandboxes, idleTimeout, limits, onClose);
    }

    public LocalConfig withIsolation(Isolation wanted) {
        return new LocalConfig(home, wanted, image, poolSize, maxSandboxes, idleTimeout, limits, onClose);
    }

    public LocalConfig withImage(String wanted) {
        return new LocalConfig(home, isolation, wanted, poolSize, maxSandboxes, idleTimeout, limits, onClose);
    }

    public LocalConfig withPoolSize(int wanted) {
        return new LocalConfig(home, isolation, image, wanted, maxSandboxes, idleTimeout, limits, onClose);
    }

    public LocalConfig withMaxSandboxes(int wanted) {
        return new LocalConfig(home, isolation, image, poolSize, wanted, idleTimeout, limits, onClose);
    }

    public LocalConfig withIdleTimeout(Duration wanted) {
        return new LocalConfig(home, isolation, image, poolSize, maxSandboxes, wanted, limits, onClose);
    }

    public LocalConfig withLimits(Limits wanted) {
        return new LocalConfig(home, isolation, image, poolSize, maxSandboxes, idleTimeout, wanted, onClose);
    }

    public LocalConfig withOnClose(OnClose wanted) {
        return new LocalConfig(home, isolation, image, poolSize, maxSandboxes, idleTimeout, limits, wanted);
    }
}
