package dev.vivarium.cli;

import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.sdk.http.Transport;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// Saves a thread's files as they are; its subcommands are for what was saved.
@Command(
        name = "snapshot",
        description = "Save a thread's files as they are, and go back to what was saved.",
        synopsisSubcommandLabel = "[take|ls|rm|restore]",
        footer = {
            "",
            "  viv snapshot t1 --name before-upgrade          save",
            "  viv snapshot ls t1                             what was saved",
            "  viv snapshot restore t1@before-upgrade         go back",
            "  viv fork t1@before-upgrade t2                  or start another thread from it"
        })
class SnapshotCommand implements Callable<Integer> {
    private final Terminal terminal;

    @Mixin
    private ServerOptions server = new ServerOptions();

    @Mixin
    private OutputOptions output = new OutputOptions();

    @Option(names = "--name", paramLabel = "NAME", description = "What to call it; THREAD@NAME then means it.")
    private String name = "";

    @Parameters(index = "0", arity = "0..1", paramLabel = "THREAD", description = "The conversation.")
    private @Nullable String thread;

    @Spec
    @SuppressWarnings("NullAway.Init") // Set by picocli.
    private CommandSpec spec;

    SnapshotCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    /// The same under a name, for a thread that is called as a subcommand is.
    @Command(name = "take", description = "Save a thread's files as they are; viv snapshot THREAD does the same.")
    static final class Take extends SnapshotCommand {
        Take(Terminal terminal) {
            super(terminal);
        }
    }

    @Override
    public Integer call() {
        if (thread == null) {
            throw new ParameterException(
                    spec.commandLine(), "say which thread to save, or what to do: take, ls, rm or restore");
        }
        JsonFields taken = take(server.http(terminal), thread, name);
        if (output.isJson()) {
            printJson(terminal, taken);
        } else {
            terminal.out().println(taken.string("snapshot_id"));
            terminal.note("to go back:  viv snapshot restore " + taken.string("snapshot_id"));
        }
        return 0;
    }

    static JsonFields take(Transport http, String thread, String name) {
        return http.post(SnapshotRef.all(thread), out -> out.writeStringProperty("name", name), fields -> fields);
    }

    static void printJson(Terminal terminal, JsonFields snapshot) {
        terminal.json(out -> {
            for (String member : new String[] {"snapshot_id", "thread_id", "sandbox_id", "name"}) {
                out.writeStringProperty(member, snapshot.string(member));
            }
            out.writeNumberProperty("bytes", snapshot.integer("bytes"));
            Json.time(out, "created_at", snapshot.time("created_at"));
        });
    }
}
