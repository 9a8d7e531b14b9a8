package dev.vivarium.cli;

import dev.vivarium.cli.run.Feed;
import dev.vivarium.cli.run.Runs;
import dev.vivarium.cli.run.Story;
import dev.vivarium.json.JsonFields;
import dev.vivarium.sdk.http.Transport;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// Shows the log of a sandbox: everything that happened in it.
@Command(name = "events", description = "Show what happened in a sandbox, in order, and what happens.")
final class EventsCommand implements Callable<Integer> {
    private static final int LONGEST = 200;

    private final Terminal terminal;

    @Mixin
    private ServerOptions server = new ServerOptions();

    @Mixin
    private OutputOptions output = new OutputOptions();

    @Option(
            names = {"-f", "--follow"},
            description = "Go on with what comes, until Ctrl-C.")
    private boolean follow;

    @Option(names = "--type", paramLabel = "TYPE", description = "Only this type; agent. means all that begin so.")
    private String type = "";

    @Option(names = "--after", paramLabel = "SEQ", description = "Begin after this number.")
    private long after;

    @Option(names = "--story", description = "In words, as viv run shows it.")
    private boolean inWords;

    @Parameters(index = "0", paramLabel = "ID", description = "The sandbox, or the thread that has it.")
    private String name = "";

    EventsCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        Transport http = server.http(terminal);
        var feed = new Feed(http, Runs.sandbox(http, name), type, after);
        var commandEvents = new Story(
                terminal.out(),
                output.isColoured(terminal.env(), terminal.ttys().out()));
        Predicate<JsonFields> reader = event -> {
            print(event, commandEvents);
            return true;
        };
        if (follow) {
            feed.follow(reader);
        } else {
            feed.read(reader);
        }
        return 0;
    }

    private void print(JsonFields event, Story commandEvents) {
        if (output.isJson()) {
            terminal.out().println(event.text());
        } else if (inWords) {
            commandEvents.tell(event);
        } else {
            String data = event.object("event_data").text();
            boolean cut = terminal.ttys().out() && data.length() > LONGEST;
            terminal.out()
                    .println(Table.shown(event.integer("seq") + "  " + event.time("created_at") + "  "
                            + event.string("event_type") + "  " + event.string("source") + "  "
                            + (cut ? data.substring(0, LONGEST) + "…" : data)));
        }
        terminal.out().flush();
    }
}
