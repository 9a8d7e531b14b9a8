package dev.vivarium.cli;

import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import java.util.List;
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
        List<JsonFields> keys = server.http(terminal).get("/admin/keys", fields -> fields.objects("keys"));
        if (output.isJson()) {
            keys.forEach(this::print);
            return 0;
        }
        var table = new Table(terminal, output, "KEY", "CREATED", "USER");
        keys.forEach(key -> table.row(key.string("key_id"), table.time(key.time("created_at")), key.string("user_id")));
        table.print();
        return 0;
    }

    private void print(JsonFields key) {
        terminal.json(out -> {
            out.writeStringProperty("key_id", key.string("key_id"));
            out.writeStringProperty("user_id", key.string("user_id"));
            Json.time(out, "created_at", key.time("created_at"));
        });
    }
}
