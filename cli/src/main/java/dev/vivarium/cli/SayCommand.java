package dev.vivarium.cli;

import dev.vivarium.cli.run.SandboxNames;
import dev.vivarium.model.Message.Kind;
import dev.vivarium.sdk.RemoteClient;
import java.util.concurrent.Callable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(name = "say", description = "Send a message to an agent, which reads it before its next tool call.")
final class SayCommand implements Callable<Integer> {
    @Mixin
    private final Invocation viv;

    /// Kind of message; at most one option.
    static final class Manner {
        @Option(names = "--interrupt", description = "Also cancel the current action.")
        private boolean interrupt;

        @Option(names = "--guidance", description = "Mark the message as advice.")
        private boolean guidance;
    }

    @ArgGroup
    private Manner manner = new Manner();

    @Parameters(index = "0", paramLabel = "ID", description = "Id of the sandbox, or its thread.")
    private String name = "";

    @Parameters(index = "1", paramLabel = "TEXT", description = "Message.")
    private String text = "";

    SayCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        RemoteClient client = viv.client();
        var kind = manner.interrupt ? Kind.INTERRUPT : manner.guidance ? Kind.GUIDANCE : Kind.USER_MESSAGE;
        var queued = client.runs().send(SandboxNames.resolve(client, name), text, kind);
        if (!viv.isJson() && !queued.listening()) {
            viv.note("no agent runs in " + name + "; the next run receives the message");
        }
        if (viv.isJson()) {
            viv.printJson(queued.json());
        } else {
            viv.print(queued.id());
        }
        return 0;
    }
}
