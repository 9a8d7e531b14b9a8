package dev.vivarium.cli;

import dev.vivarium.sdk.Webhooks.DeliveryRecord;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@Command(name = "test", description = "Send a test event to the receiver of a webhook.")
final class WebhookTestCommand implements Callable<Integer> {
    @Mixin
    private final Invocation viv;

    @Parameters(index = "0", paramLabel = "WEBHOOK_ID", description = "Id of the webhook.")
    private String id = "";

    WebhookTestCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        DeliveryRecord sent = viv.client().webhooks().test(id);
        if (viv.isJson()) {
            viv.printJson(sent.json());
        } else {
            viv.print(sent.id() + "  " + sent.status());
        }
        return 0;
    }
}
