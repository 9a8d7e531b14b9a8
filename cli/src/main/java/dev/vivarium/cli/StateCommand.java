package dev.vivarium.cli;

import dev.vivarium.cli.TokenCache.IfAbsent;
import dev.vivarium.sdk.SandboxConnection;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/// Pauses or resumes a thread's sandbox.
final class StateCommand {
    private StateCommand() {}

    @Command(name = "pause", description = "Freeze all processes of the sandbox of a thread.")
    static final class Pause extends Change {
        Pause(Terminal terminal) {
            super(terminal, "paused", SandboxConnection::pause);
        }
    }

    @Command(name = "resume", description = "Resume a paused sandbox.")
    static final class Resume extends Change {
        Resume(Terminal terminal) {
            super(terminal, "resumed", SandboxConnection::resume);
        }
    }

    abstract static class Change implements Callable<Integer> {
        private final String status;
        private final Consumer<SandboxConnection> change;

        @Mixin
        private final Invocation viv;

        @Parameters(index = "0", paramLabel = "THREAD", description = "Thread of the sandbox.")
        private String thread = "";

        Change(Terminal terminal, String status, Consumer<SandboxConnection> change) {
            this.viv = new Invocation(terminal);
            this.status = status;
            this.change = change;
        }

        @Override
        public Integer call() {
            change.accept(viv.connect(thread, IfAbsent.FAIL));
            if (viv.isJson()) {
                viv.json(out -> {
                    out.writeStringProperty("thread_id", thread);
                    out.writeStringProperty("status", status);
                });
            }
            return 0;
        }
    }
}
