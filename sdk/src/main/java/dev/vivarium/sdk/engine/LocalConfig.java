package dev.vivarium.sdk.engine;

import dev.vivarium.model.Limits;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/// Configuration of a local engine. Immutable.
///
/// @param home        directory of the engine; if absent, a temporary directory that is deleted with the client
/// @param isolation   isolation of sandboxes
/// @param image       root file system of sandboxes; `host` needs no preparation
/// @param poolSize    number of started sandboxes in the pool
/// @param maxSandboxes maximum number of sandboxes
/// @param idleTimeout how long an unused sandbox lives
/// @param limits      resource limits of one sandbox
/// @param onClose     behaviour of the sandboxes when the client is closed
public record LocalConfig(
        Optional<Path> home,
        Isolation isolation,
        String image,
        int poolSize,
        int maxSandboxes,
        Duration idleTimeout,
        Limits limits,
        OnClose onClose) {
    /// Isolation of sandboxes.
    public enum Isolation {
        /// Same isolation as on a server. Needs root.
        OCI,
        /// No isolation: commands run as this user. For tests and laptops.
        PROCESS
    }

    /// Behaviour when the client is closed.
    public enum OnClose {
        END,
        /// Sandboxes continue. A later client with the same home finds them by their threads.
        KEEP
    }

    /// Isolated sandboxes in a temporary home, two of them in the pool; they end with the client.
    public static LocalConfig standard() {
        return new LocalConfig(
                Optional.empty(), Isolation.OCI, "host", 2, 64, Duration.ofMinutes(30), Limits.STANDARD, OnClose.END);
    }

    /// Plain processes without isolation. Needs no root.
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
