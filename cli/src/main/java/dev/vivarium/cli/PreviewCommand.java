package dev.vivarium.cli;

import dev.vivarium.json.Json;
import dev.vivarium.sdk.SandboxToken;
import dev.vivarium.sdk.http.Transport;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/// `viv preview`: prints the URL of a port in a sandbox.
@Command(
        name = "preview",
        description = "Print the URL of a port in the sandbox of a thread.",
        footer = {
            "",
            "The URL gives access to the port and to processes for fifteen minutes.",
            "  viv exec t1 -- 'python3 -m http.server 8080 >/dev/null 2>&1 &'",
            "  xdg-open \"$$(viv preview t1 8080)\""
        })
final class PreviewCommand implements Callable<Integer> {
    private final Terminal terminal;

    @Mixin
    private ServerOptions server = new ServerOptions();

    @Mixin
    private OutputOptions output = new OutputOptions();

    @Parameters(index = "0", paramLabel = "THREAD", description = "Thread of the sandbox.")
    private String thread = "";

    @Parameters(index = "1", paramLabel = "PORT", description = "Port of the program in the sandbox.")
    private int port;

    PreviewCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        var account = server.account(terminal);
        // Browsers keep the address in their history, so its token has the smallest scope.
        SandboxToken token = server.tokens(account, terminal).narrowed(thread, List.of("process"), Optional.empty());
        String url = token.http() + "/ports/" + port + "/?viv_token=" + Transport.segment(token.token());
        if (output.isJson()) {
            terminal.json(out -> {
                out.writeStringProperty("url", url);
                Json.time(out, "expires_at", token.expiresAt());
            });
        } else {
            terminal.out().println(url);
        }
        return 0;
    }
}
