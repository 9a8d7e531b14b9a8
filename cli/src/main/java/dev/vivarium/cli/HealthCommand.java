package dev.vivarium.cli;

import dev.vivarium.cli.remote.Http;
import dev.vivarium.cli.remote.Reply;
import dev.vivarium.json.JsonFields;
import java.util.Map;
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
        var account = server.account(terminal);
        var http = new Http(account.server(), account.key().orElse("none"));
        try (Reply reply = http.send("GET", "/health", Map.of(), Http.Body.none())) {
            // A server that is unwell still says how, with a status of 503.
            JsonFields health = reply.decode(fields -> fields);
            Map<String, String> failing =
                    health.optionalObject("failing").map(JsonFields::strings).orElse(Map.of());
            print(health, failing);
            return failing.isEmpty() ? 0 : ExitCode.FAILURE;
        }
    }

    private void print(JsonFields health, Map<String, String> failing) {
        String provider = health.object("provider").string("name");
        if (output.isJson()) {
            terminal.json(out -> {
                out.writeStringProperty("status", health.string("status"));
                out.writeStringProperty("version", health.string("version"));
                out.writeStringProperty("provider", provider);
                out.writeNumberProperty("pool_available", health.integer("pool_available"));
                out.writeNumberProperty("active_sessions", health.integer("active_sessions"));
                out.writeNumberProperty("uptime_seconds", health.integer("uptime_seconds"));
                out.writeObjectPropertyStart("failing");
                failing.forEach(out::writeStringProperty);
                out.writeEndObject();
            });
            return;
        }
        terminal.out()
                .println(health.string("status") + ": version " + health.string("version") + ", " + provider + ", "
                        + health.integer("active_sessions") + " active, " + health.integer("pool_available")
                        + " ready, up " + health.integer("uptime_seconds") + " s");
        failing.forEach((part, why) -> terminal.note(part + ": " + why));
    }
}
