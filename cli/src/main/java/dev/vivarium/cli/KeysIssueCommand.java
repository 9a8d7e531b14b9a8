package dev.vivarium.cli;

import dev.vivarium.json.JsonFields;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/// Makes a new key for a user and prints it, once.
@Command(name = "issue", description = "Make a new key for a user. It is shown once.")
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
        JsonFields issued = server.http(terminal)
                .post("/admin/keys", out -> out.writeStringProperty("user_id", user), fields -> fields);
        if (output.isJson()) {
            terminal.json(out -> {
                out.writeStringProperty("key_id", issued.string("key_id"));
                out.writeStringProperty("user_id", issued.string("user_id"));
                out.writeStringProperty("key", issued.string("key"));
            });
        } else {
            terminal.out().println(issued.string("key"));
            terminal.note(
                    "key " + issued.string("key_id") + " of " + issued.string("user_id") + "; it is not shown again");
        }
        return 0;
    }
}
