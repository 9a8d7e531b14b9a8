package dev.vivarium.cli;

import dev.vivarium.sdk.Webhooks.DeliveryRecord;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "deliveries",
        description = "List the deliveries of a webhook, newest first.",
        footer = {"", "The server gave up a dead delivery; viv webhook replay sends it again."})
final class WebhookDeliveriesCommand implements Callable<Integer> {
    @Mixin
    private final Invocation viv;

    @Option(names = "--status", paramLabel = "STATUS", description = "Only pending, delivered or dead.")
    private @Nullable String status;

    @Option(names = "--limit", paramLabel = "NUMBER", description = "Maximum number of deliveries (100).")
    private int limit = 100;

    @Option(
            names = {"-q", "--quiet"},
            description = "Only the ids.")
    private boolean quiet;

    @Parameters(index = "0", paramLabel = "WEBHOOK_ID", description = "Id of the webhook.")
    private String id = "";

    WebhookDeliveriesCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        List<DeliveryRecord> all = viv.client().webhooks().deliveries(id, Optional.ofNullable(status), limit);
        if (viv.isJson()) {
            all.forEach(delivery -> viv.printJson(delivery.json()));
        } else if (quiet) {
            all.forEach(delivery -> viv.print(delivery.id()));
        } else {
            table(all);
        }
        return 0;
    }

    private void table(List<DeliveryRecord> all) {
        var table = viv.table("DELIVERY", "STATUS", "ATTEMPTS", "RESPONSE", "CREATED", "NEXT", "EVENT", "ERROR");
        for (DeliveryRecord delivery : all) {
            table.row(
                    delivery.id(),
                    delivery.status(),
                    Long.toString(delivery.attempts()),
                    delivery.responseStatus().map(String::valueOf).orElse("-"),
                    table.time(delivery.createdAt()),
                    delivery.nextAttemptAt().map(table::time).orElse("-"),
                    delivery.eventType(),
                    delivery.error().orElse(""));
        }
        table.print();
    }
}
