package dev.vivarium.cli;

import dev.vivarium.sdk.Webhooks;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@Command(name = "rm", description = "Delete webhooks.")
final class WebhookRmCommand implements Callable<Integer> {
    @Mixin
    private final Invocation viv;

    @Parameters(index = "0", arity = "1..*", paramLabel = "WEBHOOK_ID", description = "Ids of the webhooks.")
    private List<String> ids = List.of();

    WebhookRmCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        Webhooks webhooks = viv.client().webhooks();
        for (String id : ids) {
            webhooks.remove(id);
            if (viv.isJson()) {
                viv.json(out -> {
                    out.writeStringProperty("webhook_id", id);
                    out.writeStringProperty("status", "deleted");
                });
            }
        }
        return 0;
    }
}
