package dev.vivarium.cli;

import dev.vivarium.sdk.Health;
import dev.vivarium.sdk.RemoteClient;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/// Prints the state of the server. Needs no key.
@Command(name = "health", description = "Print the health of the server.")
final class HealthCommand implements Callable<Integer> {
    @Mixin
    private final Invocation viv;

    HealthCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        var account = viv.account();
        Health health =
                RemoteClient.of(account.server(), account.key().orElse("none")).health();
        print(health);
        return health.isHealthy() ? 0 : ExitCode.FAILURE;
    }

    private void print(Health health) {
        String provider = health.provider().name();
        if (viv.isJson()) {
            viv.json(out -> {
                out.writeStringProperty("status", health.status());
                out.writeStringProperty("version", health.version());
                out.writeStringProperty("provider", provider);
                out.writeNumberProperty("pool_available", health.poolReady());
                out.writeNumberProperty("active_sessions", health.activeSandboxes());
                out.writeNumberProperty("uptime_seconds", health.uptime().toSeconds());
                out.writeObjectPropertyStart("failing");
                health.failing().forEach(out::writeStringProperty);
                out.writeEndObject();
            });
            return;
        }
        viv.print(health.status() + ": version " + health.version() + ", " + provider + ", "
                + health.activeSandboxes() + " active, " + health.poolReady()
                + " ready, up " + health.uptime().toSeconds() + " s");
        health.failing().forEach((part, why) -> viv.note(part + ": " + why));
    }
}
