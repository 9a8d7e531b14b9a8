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

/// Says something to an agent at work.
@Command(name = "say", description = "Say something to an agent; it reads it before its next tool call.")
final class SayCommand implements Callable<Integer> {
    private final Terminal terminal;

    @Mixin
    private ServerOptions server = new ServerOptions();

    @Mixin
    private OutputOptions output = new OutputOptions();

    /// How it is meant; one at most.
    static final class Manner {
        @Option(names = "--interrupt", description = "Also end what it is just doing.")
        private boolean interrupt;

        @Option(names = "--guidance", description = "As advice, not as an order.")
        private boolean guidance;
    }

    @ArgGroup
    private Manner manner = new Manner();

    @Parameters(index = "0", paramLabel = "ID", description = "The sandbox, or the thread that has it.")
    private String name = "";

    @Parameters(index = "1", paramLabel = "TEXT", description = "What to say.")
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
            terminal.note("no agent listens in " + name + "; the next one there hears this when its run begins");
        }
        terminal.out().println(output.isJson() ? queued.json() : queued.id());
        return 0;
    }
}
