package dev.vivarium.cli;

import dev.vivarium.sdk.Webhooks;
import dev.vivarium.sdk.Webhooks.DeliveryRecord;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@Command(name = "replay", description = "Send events of a webhook again.")
final class WebhookReplayCommand implements Callable<Integer> {
    @Mixin
    private final Invocation viv;

    @Parameters(index = "0", paramLabel = "WEBHOOK_ID", description = "Id of the webhook.")
    private String id = "";

    @Parameters(index = "1", arity = "1..*", paramLabel = "DELIVERY", description = "Ids of the deliveries.")
    private List<String> deliveries = List.of();

    WebhookReplayCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        Webhooks webhooks = viv.client().webhooks();
        for (String delivery : deliveries) {
            DeliveryRecord replayed = webhooks.replay(id, delivery);
            if (viv.isJson()) {
                viv.printJson(replayed.json());
            } else {
                viv.print(replayed.id() + "  " + replayed.status());
            }
        }
        return 0;
    }
}
