package dev.vivarium.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "end",
        description = "End the sandbox of a thread. Deletes its files and ends its processes.",
        footer = {
            "",
            "Snapshots stay; viv fork THREAD@NAME THREAD starts again from one. --archive also deletes the thread,",
            "its snapshots and its members."
        })
final class EndCommand implements Callable<Integer> {
    @Mixin
    private final Invocation viv;

    @Option(names = "--archive", description = "Also delete the thread, its snapshots and its members.")
    private boolean archive;

    @Option(
            names = {"-y", "--yes"},
            description = "Do not ask; needed without a terminal.")
    private boolean sure;

    @Parameters(index = "0", paramLabel = "THREAD", description = "Thread.")
    private String thread = "";

    EndCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        String what = archive ? "the thread " + thread + " and its snapshots" : "the sandbox of " + thread;
        if (!sure && !viv.terminal().confirms("end " + what + "? Its files are lost.")) {
            return ExitCode.FAILURE;
        }
        var account = viv.account();
        var threads = viv.client(account).threads();
        if (archive) {
            threads.archive(thread);
        } else {
            threads.endSandbox(thread);
        }
        viv.tokens(account).forget(thread);
        if (viv.isJson()) {
            viv.json(out -> {
                out.writeStringProperty("thread_id", thread);
                out.writeStringProperty("status", archive ? "archived" : "released");
            });
        }
        return 0;
    }
}
