package dev.vivarium.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/// Asks a server how it is. Needs no key.
@Command(name = "health", description = "Ask the server how it is.")
final class HealthCommand implements Callable<Integer> {
    private final Terminal terminal;

    @Mixin
    private ServerOptions server = new ServerOptions();

    @Mixin
    private OutputOptions output = new OutputOptions();

    HealthCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        try (var admin = server.anonymous(terminal.env())) {
            var health = admin.health();
            if (output.isJson()) {
                terminal.json(out -> {
                    out.writeStringProperty("status", health.status());
                    out.writeStringProperty("version", health.version());
                    out.writeStringProperty("provider", health.provider());
                    out.writeNumberProperty("pool_available", health.poolReady());
                    out.writeNumberProperty("active_sessions", health.activeSandboxes());
                    out.writeNumberProperty("uptime_seconds", health.uptime().toSeconds());
                    out.writeObjectPropertyStart("failing");
                    health.failing().forEach(out::writeStringProperty);
                    out.writeEndObject();
                });
            } else {
                terminal.out()
                        .println(health.status() + ": version " + health.version() + ", " + health.provider() + ", "
                                + health.activeSandboxes() + " active, " + health.poolReady() + " ready, up "
                                + health.uptime().toSeconds() + " s");
                health.failing().forEach((part, why) -> terminal.err().println("viv: " + part + ": " + why));
            }
            return health.isHealthy() ? 0 : ExitCode.FAILURE;
        }
    }
}
