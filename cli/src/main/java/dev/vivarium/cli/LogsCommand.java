package dev.vivarium.cli;

import dev.vivarium.json.Json;
import dev.vivarium.sdk.Threads.AuditEntry;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// Prints the audit log of a thread. Only for its owner.
@Command(name = "logs", description = "Print the audit log of a thread, oldest entry first.")
final class LogsCommand implements Callable<Integer> {
    private static final Duration PAUSE = Duration.ofSeconds(1);

    @Mixin
    private final Invocation viv;

    @Option(
            names = {"-f", "--follow"},
            description = "Follow new entries until Ctrl-C.")
    private boolean follow;

    @Option(names = "--after", paramLabel = "SEQ", description = "Start after this number.")
    private long after;

    @Parameters(index = "0", paramLabel = "THREAD", description = "Thread.")
    private String thread = "";

    LogsCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        var threads = viv.client().threads();
        while (true) {
            var page = threads.audit(thread, after);
            page.entries().forEach(this::print);
            viv.out().flush();
            after = page.nextAfter().orElse(after);
            if (page.nextAfter().isEmpty() && (!follow || !pause())) {
                return 0;
            }
        }
    }

    /// Reports whether the pause ended without an interrupt.
    private static boolean pause() {
        try {
            Thread.sleep(PAUSE);
            return true;
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private void print(AuditEntry entry) {
        if (viv.isJson()) {
            viv.json(out -> {
                out.writeNumberProperty("seq", entry.seq());
                Json.time(out, "at", entry.at());
                out.writeStringProperty("kind", entry.kind());
                out.writeNumberProperty("outcome", entry.outcome());
                out.writeStringProperty("route", entry.route());
                entry.user().ifPresent(value -> out.writeStringProperty("sub", value));
                entry.token().ifPresent(value -> out.writeStringProperty("jti", value));
                entry.sandbox().ifPresent(value -> out.writeStringProperty("aud", value));
                entry.scope().ifPresent(value -> out.writeStringProperty("scope", value));
                entry.detail().ifPresent(value -> out.writeStringProperty("detail", value));
                out.writeNumberProperty("count", entry.count());
            });
            return;
        }
        String detail = entry.detail().map(text -> "  " + text).orElse("")
                + (entry.count() > 1 ? "  (" + entry.count() + " times)" : "");
        viv.print(entry.seq() + "  " + entry.at() + "  " + entry.kind() + "  "
                + entry.user().orElse("-") + "  " + entry.outcome() + "  " + entry.route() + detail);
    }
}
