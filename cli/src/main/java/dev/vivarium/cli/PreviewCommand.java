package dev.vivarium.cli;

import dev.vivarium.json.Json;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.sdk.SandboxToken;
import dev.vivarium.sdk.http.Transport;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

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
    private static final int LAST_PORT = 65535;

    @Mixin
    private final Invocation viv;

    @Parameters(index = "0", paramLabel = "THREAD", description = "Thread of the sandbox.")
    private String thread = "";

    @Parameters(index = "1", paramLabel = "PORT", description = "Port of the program in the sandbox.")
    private int port;

    PreviewCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        if (port < 1 || port > LAST_PORT) {
            throw new SandboxException(new Failure.InvalidRequest("PORT", "must be between 1 and " + LAST_PORT));
        }
        var account = viv.account();
        // Browsers keep the address in their history, so its token has the smallest scope.
        SandboxToken token = viv.tokens(account).narrowed(thread, List.of("process"), Optional.empty());
        String place = viv.client(account)
                .previewHosts()
                .address(account.server(), token.sandbox(), port)
                .orElseGet(() -> token.http() + "/ports/" + port);
        String url = place + "/?viv_token=" + Transport.segment(token.token());
        if (viv.isJson()) {
            viv.json(out -> {
                out.writeStringProperty("url", url);
                Json.time(out, "expires_at", token.expiresAt());
            });
        } else {
            viv.print(url);
        }
        return 0;
    }
}
