package dev.vivarium.cli;

import dev.vivarium.cli.remote.Passes.IfAbsent;
import dev.vivarium.sdk.http.Transport;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/// Freezes a thread's sandbox with everything that runs in it, or lets it go on.
final class StateCommand {
    private StateCommand() {}

    @Command(name = "pause", description = "Freeze a thread's sandbox, with everything that runs in it.")
    static final class Pause extends Change {
        Pause(Terminal terminal) {
            super(terminal, "pause");
        }
    }

    @Command(name = "resume", description = "Let a paused sandbox go on.")
    static final class Resume extends Change {
        Resume(Terminal terminal) {
            super(terminal, "resume");
        }
    }

    /// What both have in common.
    abstract static class Change implements Callable<Integer> {
        private final Terminal terminal;
        private final String verb;

        @Mixin
        private ServerOptions server = new ServerOptions();

        @Mixin
        private OutputOptions output = new OutputOptions();

        @Parameters(index = "0", paramLabel = "THREAD", description = "The conversation whose sandbox it is.")
        private String thread = "";

        Change(Terminal terminal, String verb) {
            this.terminal = terminal;
            this.verb = verb;
        }

        @Override
        public Integer call() {
            var box = server.box(terminal, thread, IfAbsent.FAIL);
            box.send("POST", "/" + verb, Map.of(), Transport.Body::none)
                    .requireSuccess()
                    .close();
            if (output.isJson()) {
                terminal.json(out -> {
                    out.writeStringProperty("thread_id", thread);
                    out.writeStringProperty("status", verb + "d");
                });
            }
            return 0;
        }
    }
}
