package dev.vivarium.cli;

import dev.vivarium.json.Json;
import dev.vivarium.model.SnapshotInfo;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// Takes a snapshot of a thread; its subcommands list, delete and restore snapshots.
@Command(
        name = "snapshot",
        description = "Save and restore the files of a thread.",
        synopsisSubcommandLabel = "[take|ls|rm|restore]",
        footer = {
            "",
            "  viv snapshot t1 --name before-upgrade          save",
            "  viv snapshot ls t1                             list",
            "  viv snapshot restore t1@before-upgrade         restore",
            "  viv fork t1@before-upgrade t2                  create another thread from it"
        })
class SnapshotCommand implements Callable<Integer> {
    @Mixin
    private final Invocation viv;

    @Option(names = "--name", paramLabel = "NAME", description = "Name of the snapshot, for THREAD@NAME.")
    private String name = "";

    @Parameters(index = "0", arity = "0..1", paramLabel = "THREAD", description = "Thread.")
    private @Nullable String thread;

    @Spec
    @SuppressWarnings("NullAway.Init") // Set by picocli.
    private CommandSpec spec;

    SnapshotCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    /// The same as a subcommand, for a thread whose name is that of a subcommand.
    @Command(name = "take", description = "Save the files of a thread, as viv snapshot THREAD does.")
    static final class Take extends SnapshotCommand {
        Take(Terminal terminal) {
            super(terminal);
        }
    }

    @Override
    public Integer call() {
        if (thread == null) {
            throw new ParameterException(
                    spec.commandLine(), "a thread or a subcommand is missing: take, ls, rm or restore");
        }
        SnapshotInfo taken = viv.client().snapshots().take(thread, name);
        if (viv.isJson()) {
            printJson(viv, taken);
        } else {
            viv.out().println(taken.id().value());
            viv.note("to restore it:  viv snapshot restore " + taken.id().value());
        }
        return 0;
    }

    static void printJson(Invocation viv, SnapshotInfo snapshot) {
        viv.json(out -> {
            out.writeStringProperty("snapshot_id", snapshot.id().value());
            out.writeStringProperty("thread_id", snapshot.thread().value());
            out.writeStringProperty("sandbox_id", snapshot.sandbox().value());
            out.writeStringProperty("name", snapshot.name());
            out.writeNumberProperty("bytes", snapshot.bytes());
            Json.time(out, "created_at", snapshot.createdAt());
        });
    }
}
