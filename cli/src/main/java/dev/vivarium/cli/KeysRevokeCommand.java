package dev.vivarium.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/// Revokes an API key.
@Command(name = "revoke", description = "Revoke a key, effective immediately.")
final class KeysRevokeCommand implements Callable<Integer> {
    private final Terminal terminal;

    @Mixin
    private ServerOptions server = new ServerOptions();

    @Mixin
    private OutputOptions output = new OutputOptions();

    @Parameters(index = "0", paramLabel = "KEY_ID")
    private String keyId = "";

    KeysRevokeCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        server.client(terminal).keys().revoke(keyId);
        if (output.isJson()) {
            terminal.json(out -> {
                out.writeStringProperty("key_id", keyId);
                out.writeStringProperty("status", "revoked");
            });
        }
        return 0;
    }
}
