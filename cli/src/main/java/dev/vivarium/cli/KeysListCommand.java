package dev.vivarium.cli;

import dev.vivarium.json.Json;
import dev.vivarium.sdk.AdminClient.KeyInfo;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/// Lists who has a key. The keys themselves are known to nobody.
@Command(name = "list", description = "List the users' keys by their ids.")
final class KeysListCommand implements Callable<Integer> {
    private final Terminal terminal;

    @Mixin
    private ServerOptions server = new ServerOptions();

    @Mixin
    private OutputOptions output = new OutputOptions();

    KeysListCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        try (var admin = server.admin(terminal.env())) {
            admin.keys().forEach(this::print);
            return 0;
        }
    }

    private void print(KeyInfo key) {
        if (output.isJson()) {
            terminal.json(out -> {
                out.writeStringProperty("key_id", key.id());
                out.writeStringProperty("user_id", key.user().value());
                Json.time(out, "created_at", key.createdAt());
            });
        } else {
            terminal.out().println(key.id() + "  " + key.createdAt() + "  " + key.user());
        }
    }
}
