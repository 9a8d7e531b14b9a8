package dev.vivarium.cli;

import dev.vivarium.json.JsonFields;
import dev.vivarium.model.SandboxException;
import dev.vivarium.sdk.http.Transport;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/// Starts another thread from the files of one, as they are or as they were.
@Command(
        name = "fork",
        description = "Start another thread from the files of one, as they are or as they were.",
        footer = {
            "",
            "  viv fork t1 t2                      from t1 as it is now",
            "  viv fork t1@before-upgrade t2       from what was saved under that name",
            "  viv fork snp… t2                    from what was saved under that id",
            "Neither sees what the other writes. Processes are not taken along."
        })
final class ForkCommand implements Callable<Integer> {
    private final Terminal terminal;

    @Mixin
    private ServerOptions server = new ServerOptions();

    @Mixin
    private OutputOptions output = new OutputOptions();

    @Parameters(index = "0", paramLabel = "THREAD|SNAPSHOT", description = "A thread, or a snapshot of one.")
    private String source = "";

    @Parameters(index = "1", paramLabel = "NEW", description = "The new thread, which must not have a sandbox.")
    private String target = "";

    ForkCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        var account = server.account(terminal);
        Transport http = server.http(account);
        Optional<SnapshotRef> kept = SnapshotRef.find(source);
        JsonFields session = kept.isPresent()
                ? fork(http, kept.get().resolve(http), account.user())
                : forkAsItIs(http, account.user());
        if (output.isJson()) {
            terminal.json(out -> {
                out.writeStringProperty("thread_id", target);
                out.writeStringProperty("sandbox_id", session.string("session_id"));
                out.writeStringProperty("user_id", session.string("user_id"));
                out.writeStringProperty("from", source);
            });
        } else {
            terminal.note(target + " is ready:  viv ls " + target);
        }
        return 0;
    }

    /// By a snapshot that nobody asked for and that therefore does not stay: what was forked from it does.
    private JsonFields forkAsItIs(Transport http, Optional<String> user) {
        JsonFields snapshot = SnapshotCommand.take(http, source, "");
        try {
            return fork(http, snapshot, user);
        } finally {
            forget(http, snapshot);
        }
    }

    private void forget(Transport http, JsonFields snapshot) {
        try {
            http.delete(SnapshotRef.path(snapshot));
        } catch (SandboxException e) {
            terminal.note("snapshot " + snapshot.string("snapshot_id") + " stayed behind: "
                    + e.failure().sentence());
        }
    }

    private JsonFields fork(Transport http, JsonFields snapshot, Optional<String> user) {
        return http.post(
                SnapshotRef.path(snapshot) + "/fork",
                out -> {
                    out.writeStringProperty("thread_id", target);
                    user.ifPresent(who -> out.writeStringProperty("user_id", who));
                },
                fields -> fields);
    }
}
