package dev.vivarium.cli;

import dev.vivarium.cli.run.SandboxNames;
import dev.vivarium.sdk.RemoteClient;
import java.net.URI;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@Command(
        name = "open",
        description = "Print a link that opens the console, signed in.",
        footer = {"", "The link has your rights. It works once, within five minutes.", "  xdg-open \"$$(viv open t1)\""
        })
final class OpenCommand implements Callable<Integer> {
    @Mixin
    private final Invocation viv;

    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "ID",
            description = "Id of the sandbox to open, or its thread.")
    private @Nullable String name;

    OpenCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        RemoteClient client = viv.client();
        String page = name == null ? "/console" : "/console/sandboxes/" + SandboxNames.resolve(client, name);
        URI link = client.signInLink(page);
        if (viv.isJson()) {
            viv.json(out -> out.writeStringProperty("url", link.toString()));
        } else {
            viv.print(link.toString());
        }
        return 0;
    }
}
