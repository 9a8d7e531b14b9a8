package dev.vivarium.cli;

import dev.vivarium.sdk.Webhooks.WebhookRecord;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(name = "ls", description = "List your webhooks.")
final class WebhookLsCommand implements Callable<Integer> {
    @Mixin
    private final Invocation viv;

    @Option(
            names = {"-q", "--quiet"},
            description = "Only the ids.")
    private boolean quiet;

    WebhookLsCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        List<WebhookRecord> webhooks = viv.client().webhooks().list();
        if (viv.isJson()) {
            webhooks.forEach(webhook -> viv.printJson(webhook.json()));
        } else if (quiet) {
            webhooks.forEach(webhook -> viv.print(webhook.id()));
        } else {
            var table = viv.table("WEBHOOK", "CREATED", "FORMAT", "EVENTS", "URL");
            webhooks.forEach(webhook -> table.row(
                    webhook.id(),
                    table.time(webhook.createdAt()),
                    webhook.format(),
                    webhook.eventTypes().isEmpty() ? "all" : String.join(",", webhook.eventTypes()),
                    webhook.url()));
            table.print();
        }
        return 0;
    }
}
