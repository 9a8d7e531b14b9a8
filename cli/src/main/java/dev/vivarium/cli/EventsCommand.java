package dev.vivarium.cli;

import dev.vivarium.cli.run.EventPrinter;
import dev.vivarium.cli.run.SandboxNames;
import dev.vivarium.sdk.EventStream;
import dev.vivarium.sdk.Events;
import dev.vivarium.sdk.RemoteClient;
import dev.vivarium.sdk.SandboxEvent;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(name = "events", description = "Print the event log of a sandbox.")
final class EventsCommand implements Callable<Integer> {
    private static final int LONGEST = 200;

    @Mixin
    private final Invocation viv;

    @Option(
            names = {"-f", "--follow"},
            description = "Follow new entries until Ctrl-C.")
    private boolean follow;

    @Option(
            names = "--type",
            paramLabel = "TYPE",
            description = "Only this type; agent. selects all types with this prefix.")
    private String type = "";

    @Option(names = "--after", paramLabel = "SEQ", description = "Start after this number.")
    private long after;

    @Option(names = "--story", description = "Print sentences, as viv run does.")
    private boolean inWords;

    @Parameters(index = "0", paramLabel = "ID", description = "Id of the sandbox, or its thread.")
    private String name = "";

    EventsCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        RemoteClient client = viv.client();
        String sandbox = SandboxNames.resolve(client, name);
        var filter = new Events.Filter(type, after);
        var printer = new EventPrinter(viv.out(), viv.isColoured());
        try (EventStream events = follow
                ? client.events().follow(sandbox, filter)
                : client.events().stored(sandbox, filter)) {
            events.forEachRemaining(event -> print(event, printer));
        }
        return 0;
    }

    private void print(SandboxEvent event, EventPrinter printer) {
        if (viv.isJson()) {
            viv.printJson(event.json());
        } else if (inWords) {
            printer.print(event);
        } else {
            String data = event.data();
            boolean cut = viv.terminal().ttys().out() && data.length() > LONGEST;
            viv.print(event.seq() + "  " + event.at() + "  " + event.type() + "  " + event.source() + "  "
                    + (cut ? data.substring(0, LONGEST) + "…" : data));
        }
        viv.out().flush();
    }
}
