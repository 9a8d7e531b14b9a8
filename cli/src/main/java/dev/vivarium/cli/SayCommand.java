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

/// `viv say`: sends a message to an agent.
@Command(name = "say", description = "Send a message to an agent, which reads it before its next tool call.")
final class SayCommand implements Callable<Integer> {
    private final Terminal terminal;

    @Mixin
    private ServerOptions server = new ServerOptions();

    @Mixin
    private OutputOptions output = new OutputOptions();

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
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        RemoteClient client = server.client(terminal);
        var kind = manner.interrupt ? Kind.INTERRUPT : manner.guidance ? Kind.GUIDANCE : Kind.USER_MESSAGE;
        var queued = client.runs().send(SandboxNames.resolve(client, name), text, kind);
        if (!output.isJson() && !queued.listening()) {
            terminal.note("no agent runs in " + name + "; the next run receives the message");
        }
        terminal.out().println(output.isJson() ? queued.json() : queued.id());
        return 0;
    }
}
