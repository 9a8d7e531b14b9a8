package dev.vivarium.server.operation;

import static dev.vivarium.model.Failure.InvalidRequest.require;

import dev.vivarium.model.Limits;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.server.settings.Config;
import dev.vivarium.server.settings.EngineConfig;
import java.time.Duration;

/// Limits for the requests that create a sandbox. Immutable.
public final class SandboxRule {
    private final EngineConfig config;
    private final EnvironmentRule environment;

    private SandboxRule(EngineConfig config, EnvironmentRule environment) {
        this.config = config;
        this.environment = environment;
    }

    public static SandboxRule of(Config config) {
        return new SandboxRule(
                config.engine(), new EnvironmentRule(config.calls().policy()));
    }

    /// Returns the default limits of a sandbox, which are also the maximum.
    public Limits limits() {
        return config.sandboxes().limits();
    }

    /// Returns the maximum idle timeout.
    public Duration maxIdle() {
        return config.maxIdleTimeout();
    }

    /// Fails with `InvalidRequest` if the request exceeds a limit.
    public void check(NewSandbox request) {
        environment.check(request.env());
        request.idleTimeout().ifPresent(this::checkTimeout);
        request.limits().ifPresent(this::checkLimits);
    }

    private void checkTimeout(Duration timeout) {
        Duration max = maxIdle();
        require(timeout.compareTo(max) <= 0, "timeout_minutes", "must be at most " + max.toMinutes());
    }

    private void checkLimits(Limits wanted) {
        Limits max = limits();
        require(
                wanted.memoryBytes() <= max.memoryBytes(),
                "limits.memory_mb",
                "must be at most " + (max.memoryBytes() >> 20));
        require(wanted.cpus() <= max.cpus(), "limits.cpus", "must be at most " + max.cpus());
        require(wanted.processes() <= max.processes(), "limits.processes", "must be at most " + max.processes());
        require(
                wanted.diskBytes() == max.diskBytes(),
                "limits.disk_mb",
                "is the server's choice: " + (max.diskBytes() >> 20));
    }
}
