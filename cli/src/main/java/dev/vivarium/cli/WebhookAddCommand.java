package dev.vivarium.cli;

import dev.vivarium.json.Json;
import dev.vivarium.sdk.Webhooks;
import dev.vivarium.sdk.Webhooks.NewWebhook;
import dev.vivarium.sdk.Webhooks.WebhookRecord;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// Adds a webhook. No option takes the secret, because every user of the machine can read arguments.
@Command(
        name = "add",
        description = "Add a webhook and print its id.",
        footer = {
            "",
            "  viv webhook add https://hooks.example.com/vivarium --events task.failed,guardian.",
            "viv generates the secret of the signatures and shows it once, unless --secret-stdin is given."
        })
final class WebhookAddCommand implements Callable<Integer> {
    private static final int SECRET_BYTES = 32;

    @Mixin
    private final Invocation viv;

    @Option(
            names = "--events",
            paramLabel = "TYPE",
            split = ",",
            description = "Type of events; task. selects all types with this prefix. May be repeated (all).")
    private List<String> events = List.of();

    @Option(names = "--format", paramLabel = "FORMAT", description = "json or slack (json).")
    private Webhooks.Format format = Webhooks.Format.JSON;

    @Option(names = "--secret-stdin", description = "Read the secret of the signatures from standard input.")
    private boolean secretFromInput;

    @Parameters(index = "0", paramLabel = "URL", description = "Address of the receiver.")
    private String url = "";

    WebhookAddCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        Webhooks client = viv.client().webhooks();
        String secret = secretFromInput ? ServerOptions.firstLine(viv.terminal().in()) : newSecret();
        WebhookRecord added = client.add(new NewWebhook(url, events, secret, format));
        if (viv.isJson()) {
            viv.printJson(secretFromInput ? added.json() : withSecret(added, secret));
            return 0;
        }
        viv.print(added.id());
        if (!secretFromInput) {
            viv.note("the secret of its signatures is " + secret + "; it is not shown again");
        }
        return 0;
    }

    private static String withSecret(WebhookRecord added, String secret) {
        return Json.answer(added.json()).with("secret", secret).text();
    }

    private static String newSecret() {
        var bytes = new byte[SECRET_BYTES];
        new SecureRandom().nextBytes(bytes);
        return HexFormat.of().formatHex(bytes);
    }
}
