package dev.vivarium.cli;

import dev.vivarium.sdk.RemoteClient;
import java.io.InputStream;
import java.util.Map;

/// Client for the server and the key that `viv` finds without options. For other programs of the distribution.
/// Stateless.
public final class EnvironmentClient {
    private EnvironmentClient() {}

    public static RemoteClient of(Map<String, String> env) {
        var terminal = new Terminal(InputStream.nullInputStream(), System.out, System.err, env, Terminal.Ttys.NONE);
        Account account = new ServerOptions().account(terminal);
        return RemoteClient.of(account.server(), account.requireKey());
    }
}
