package dev.vivarium.cli;

import dev.vivarium.json.Json;
import dev.vivarium.sdk.Keys.KeyInfo;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

@Command(name = "list", description = "List the users' keys by their ids.")
final class KeysListCommand implements Callable<Integer> {
    @Mixin
    private final Invocation viv;

    KeysListCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        List<KeyInfo> keys = viv.client().keys().list();
        if (viv.isJson()) {
            keys.forEach(this::print);
            return 0;
        }
        var table = viv.table("KEY", "CREATED", "USED", "EXPIRES", "USER", "LABEL");
        keys.forEach(key -> table.row(
                key.id(),
                table.time(key.createdAt()),
                key.lastUsedAt().map(table::time).orElse("never"),
                key.expiresAt().map(at -> expiry(table, at)).orElse("never"),
                key.user().value(),
                key.label().orElse("")));
        table.print();
        return 0;
    }

    private void print(KeyInfo key) {
        viv.json(out -> {
            out.writeStringProperty("key_id", key.id());
            out.writeStringProperty("user_id", key.user().value());
            Json.time(out, "created_at", key.createdAt());
            key.label().ifPresent(label -> out.writeStringProperty("label", label));
            key.lastUsedAt().ifPresent(at -> Json.time(out, "last_used_at", at));
            key.expiresAt().ifPresent(at -> Json.time(out, "expires_at", at));
        });
    }

    private static String expiry(Table table, Instant at) {
        return at.isAfter(Instant.now()) ? table.time(at) : "expired";
    }
}
