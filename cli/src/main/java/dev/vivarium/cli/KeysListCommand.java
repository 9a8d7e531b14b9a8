package dev.vivarium.cli;

import dev.vivarium.json.Json;
import dev.vivarium.sdk.Keys.KeyInfo;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/// Lists the API keys of users, without their secrets.
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
        List<KeyInfo> keys = server.client(terminal).keys().list();
        if (output.isJson()) {
            keys.forEach(this::print);
            return 0;
        }
        var table = new Table(terminal, output, "KEY", "CREATED", "USER");
        keys.forEach(key ->
                table.row(key.id(), table.time(key.createdAt()), key.user().value()));
        table.print();
        return 0;
    }

    private void print(KeyInfo key) {
        terminal.json(out -> {
            out.writeStringProperty("key_id", key.id());
            out.writeStringProperty("user_id", key.user().value());
            Json.time(out, "created_at", key.createdAt());
        });
    }
}
