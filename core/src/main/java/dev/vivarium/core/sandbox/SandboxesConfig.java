package dev.vivarium.core.sandbox;

import dev.vivarium.core.egress.EgressConfig;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Limits;
import dev.vivarium.model.SandboxException;
import java.time.Duration;

/// How many sandboxes there may be, what each gets unless asked otherwise, and how long they live. Immutable.
///
/// @param poolSize       machines kept warm; they count towards `maxSandboxes` only while there is room
/// @param maxLifetime    how long a sandbox may live, whatever it does
/// @param reconcileEvery how often leftovers are looked for
/// @param egress         what sandboxes may reach outside
public record SandboxesConfig(
        int poolSize,
        int maxSandboxes,
        Duration idleTimeout,
        Duration maxLifetime,
        Limits limits,
        String image,
        int maxCommandsPerSandbox,
        Duration reconcileEvery,
        EgressConfig egress,
        Duration keepEnded) {
    private static final Duration A_WEEK = Duration.ofDays(7);

    public SandboxesConfig {
        require(poolSize >= 0, "pool-size", "must not be negative");
        require(maxSandboxes >= 1, "max-sandboxes", "must be at least 1");
        require(idleTimeout.isPositive(), "idle-timeout", "must be more than zero");
        require(maxLifetime.isPositive(), "max-lifetime", "must be more than zero");
        require(maxCommandsPerSandbox >= 1, "max-commands-per-sandbox", "must be at least 1");
        require(reconcileEvery.isPositive(), "reconcile-every", "must be more than zero");
    }

    /// The same with ordinary egress.
    public SandboxesConfig(
            int poolSize,
            int maxSandboxes,
            Duration idleTimeout,
            Duration maxLifetime,
            Limits limits,
            String image,
            int maxCommandsPerSandbox,
            Duration reconcileEvery) {
        this(
                poolSize,
                maxSandboxes,
                idleTimeout,
                maxLifetime,
                limits,
                image,
                maxCommandsPerSandbox,
                reconcileEvery,
                EgressConfig.ordinary(),
                A_WEEK);
    }

    /// What a server has unless it is told otherwise.
    public static SandboxesConfig standard() {
        return new SandboxesConfig(
                10,
                100,
                Duration.ofMinutes(30),
                Duration.ofHours(24),
                Limits.STANDARD,
                "host",
                64,
                Duration.ofSeconds(30));
    }

    public SandboxesConfig withPoolSize(int machines) {
        return new SandboxesConfig(
                machines,
                maxSandboxes,
                idleTimeout,
                maxLifetime,
                limits,
                image,
                maxCommandsPerSandbox,
                reconcileEvery,
                egress,
                keepEnded);
    }

    public SandboxesConfig withMaxSandboxes(int sandboxes) {
        return new SandboxesConfig(
                poolSize,
                sandboxes,
                idleTimeout,
                maxLifetime,
                limits,
                image,
                maxCommandsPerSandbox,
                reconcileEvery,
                egress,
                keepEnded);
    }

    public SandboxesConfig withTimes(Duration idle, Duration lifetime, Duration reconcile) {
        return new SandboxesConfig(
                poolSize,
                maxSandboxes,
                idle,
                lifetime,
                limits,
                image,
                maxCommandsPerSandbox,
                reconcile,
                egress,
                keepEnded);
    }

    public SandboxesConfig withEgress(EgressConfig reach) {
        return new SandboxesConfig(
                poolSize,
                maxSandboxes,
                idleTimeout,
                maxLifetime,
                limits,
                image,
                maxCommandsPerSandbox,
                reconcileEvery,
                reach,
                keepEnded);
    }

    public SandboxesConfig withKeepEnded(Duration time) {
        return new SandboxesConfig(
                poolSize,
                maxSandboxes,
                idleTimeout,
                maxLifetime,
                limits,
                image,
                maxCommandsPerSandbox,
                reconcileEvery,
                egress,
                time);
    }

    private static void require(boolean holds, String field, String rule) {
        if (!holds) {
            throw new SandboxException(new Failure.InvalidRequest(field, rule));
        }
    }
}
