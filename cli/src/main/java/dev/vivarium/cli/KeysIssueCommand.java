package dev.vivarium.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/// Creates an API key for a user and prints it.
@Command(name = "issue", description = "Issue a key for a user. It is shown once.")
final class KeysIssueCommand implements Callable<Integer> {
    private final Terminal terminal;

    @Mixin
    private ServerOptions server = new ServerOptions();

    @Mixin
    private OutputOptions output = new OutputOptions();

    @Parameters(index = "0", paramLabel = "USER")
    private String user = "";

    KeysIssueCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        var issued = server.client(terminal).keys().issue(user);
        if (output.isJson()) {
            terminal.json(out -> {
                out.writeStringProperty("key_id", issued.id());
                out.writeStringProperty("user_id", issued.user().value());
                out.writeStringProperty("key", issued.key());
            });
        } else {
            terminal.out().println(issued.key());
            terminal.note("key " + issued.id() + " of " + issued.user().value() + "; it is not shown again");
        }
        return 0;
    }
}
