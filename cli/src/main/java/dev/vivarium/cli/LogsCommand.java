package dev.vivarium.cli;

import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.sdk.http.Transport;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// Shows the audit of a thread: who did what in its sandbox. For the owner.
@Command(name = "logs", description = "Show who did what in a thread's sandbox: its audit, oldest first.")
final class LogsCommand implements Callable<Integer> {
    private static final Duration PAUSE = Duration.ofSeconds(1);

    private final Terminal terminal;

    @Mixin
    private ServerOptions server = new ServerOptions();

    @Mixin
    private OutputOptions output = new OutputOptions();

    @Option(
            names = {"-f", "--follow"},
            description = "Go on with what comes, until Ctrl-C.")
    private boolean follow;

    @Option(names = "--after", paramLabel = "SEQ", description = "Begin after this number.")
    private long after;

    @Parameters(index = "0", paramLabel = "THREAD", description = "The conversation.")
    private String thread = "";

    LogsCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        Transport http = server.http(terminal);
        String path = "/threads/" + Transport.segment(thread) + "/audit?after=";
        while (true) {
            JsonFields page = http.get(path + after, fields -> fields);
            page.objects("entries").forEach(this::print);
            terminal.out().flush();
            boolean more = page.optionalInteger("next_after").isPresent();
            after = page.optionalInteger("next_after").orElse(after);
            if (!more && (!follow || !isPatient())) {
                return 0;
            }
        }
    }

    private static boolean isPatient() {
        try {
            Thread.sleep(PAUSE);
            return true;
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private void print(JsonFields entry) {
        if (output.isJson()) {
            terminal.json(out -> {
                out.writeNumberProperty("seq", entry.integer("seq"));
                Json.time(out, "at", entry.time("at"));
                out.writeStringProperty("kind", entry.string("kind"));
                out.writeNumberProperty("outcome", entry.integer("outcome"));
                out.writeStringProperty("route", entry.string("route"));
                for (String name : new String[] {"sub", "jti", "aud", "scope", "detail"}) {
                    entry.optionalString(name).ifPresent(value -> out.writeStringProperty(name, value));
                }
            });
            return;
        }
        terminal.out()
                .println(Table.shown(entry.integer("seq") + "  " + entry.time("at") + "  " + entry.string("kind") + "  "
                        + entry.optionalString("sub").orElse("-") + "  " + entry.integer("outcome") + "  "
                        + entry.string("route")
                        + entry.optionalString("detail")
                                .map(detail -> "  " + detail)
                                .orElse("")));
    }
}
