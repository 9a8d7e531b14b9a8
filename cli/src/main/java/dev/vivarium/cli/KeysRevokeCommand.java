package dev.vivarium.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@Command(name = "revoke", description = "Revoke a key, effective immediately.")
final class KeysRevokeCommand implements Callable<Integer> {
    @Mixin
    private final Invocation viv;

    @Parameters(index = "0", paramLabel = "KEY_ID")
    private String keyId = "";

    KeysRevokeCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        viv.client().keys().revoke(keyId);
        if (viv.isJson()) {
            viv.json(out -> {
                out.writeStringProperty("key_id", keyId);
                out.writeStringProperty("status", "revoked");
            });
        }
        return 0;
    }
}
