package dev.vivarium.cli;

import dev.vivarium.sdk.Alerts;
import dev.vivarium.sdk.Alerts.AlertRecord;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "alerts",
        description = "List the newest alerts about your sandboxes and tasks, or acknowledge some.",
        footer = {"", "  viv alerts --severity critical", "  viv alerts --acknowledge ALERT"})
final class AlertsCommand implements Callable<Integer> {
    private static final Duration PAUSE = Duration.ofSeconds(1);

    @Mixin
    private final Invocation viv;

    @Option(names = "--severity", paramLabel = "SEVERITY", description = "Only info, warning or critical.")
    private Alerts.@Nullable Severity severity;

    @Option(names = "--after", paramLabel = "ALERT", description = "Only alerts after this one.")
    private @Nullable String after;

    @Option(names = "--limit", paramLabel = "NUMBER", description = "Maximum number of alerts (100).")
    private int limit = 100;

    @Option(
            names = "--acknowledge",
            paramLabel = "ALERT",
            split = ",",
            description = "Mark an alert as seen; may be repeated.")
    private List<String> acknowledged = List.of();

    @Option(
            names = {"-f", "--follow"},
            description = "Follow new alerts until Ctrl-C.")
    private boolean follow;

    @Option(
            names = {"-q", "--quiet"},
            description = "Only the ids.")
    private boolean quiet;

    AlertsCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        Alerts client = viv.client().alerts();
        if (!acknowledged.isEmpty()) {
            print(acknowledged.stream().map(client::acknowledge).toList());
            return 0;
        }
        print(list(client));
        while (follow) {
            pause();
            print(list(client));
        }
        return 0;
    }

    /// The next page starts after the last alert of this one.
    private List<AlertRecord> list(Alerts client) {
        List<AlertRecord> page =
                client.list(new Alerts.Filter(Optional.ofNullable(after), Optional.ofNullable(severity), limit));
        after = page.isEmpty() ? after : page.getLast().id();
        return page;
    }

    private static void pause() {
        try {
            Thread.sleep(PAUSE);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            throw new CancellationException("interrupted while waiting for alerts");
        }
    }

    private void print(List<AlertRecord> alerts) {
        if (viv.isJson()) {
            alerts.forEach(alert -> viv.printJson(alert.json()));
        } else if (quiet) {
            alerts.forEach(alert -> viv.print(alert.id()));
        } else if (follow) {
            alerts.forEach(this::line);
        } else {
            table(alerts);
        }
    }

    private void line(AlertRecord alert) {
        viv.print(alert.id() + "  " + alert.at() + "  " + alert.severity() + "  " + about(alert) + "  " + alert.title()
                + (alert.detail().isEmpty() ? "" : ": " + alert.detail()));
    }

    private static String about(AlertRecord alert) {
        return alert.task().or(alert::run).or(alert::sandbox).orElse("-");
    }

    private void table(List<AlertRecord> alerts) {
        var table = viv.table("ALERT", "SEVERITY", "AT", "SEEN", "TYPE", "ABOUT", "TITLE", "DETAIL");
        for (AlertRecord alert : alerts) {
            table.row(
                    alert.id(),
                    alert.severity(),
                    table.time(alert.at()),
                    alert.acknowledgedAt().map(table::time).orElse("-"),
                    alert.type(),
                    about(alert),
                    alert.title(),
                    alert.detail());
        }
        table.print();
    }
}
