package dev.vivarium.cli;

import dev.vivarium.cli.run.SandboxNames;
import dev.vivarium.model.Run;
import dev.vivarium.model.RunFailure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.sdk.EventStream;
import dev.vivarium.sdk.Events;
import dev.vivarium.sdk.RemoteClient;
import dev.vivarium.sdk.Runs.RunRecord;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@Command(
        name = "stop",
        description = "Stop a run and keep its sandbox.",
        footer = {"", "viv end ends the sandbox too."})
final class StopCommand implements Callable<Integer> {
    @Mixin
    private final Invocation viv;

    @Parameters(index = "0", paramLabel = "ID", description = "Id of the run or of its sandbox, or its thread.")
    private String name = "";

    StopCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        RemoteClient client = viv.client();
        RunRecord cancelled = client.runs().cancel(run(client));
        awaitEnd(client, cancelled.run());
        RunRecord ended = client.runs().get(cancelled.run().id().value());
        viv.out()
                .println(
                        viv.isJson()
                                ? ended.json()
                                : ended.run().status().text() + ": "
                                        + ended.run().reason().orElse(""));
        return 0;
    }

    private String run(RemoteClient client) {
        if (SandboxNames.isRun(name)) {
            return name;
        }
        var found = client.runs().find(SandboxNames.resolve(client, name));
        return found.run()
                .map(run -> run.id().value())
                .orElseThrow(() -> new SandboxException(new RunFailure.NoRun(found.sandbox(), Optional.empty())));
    }

    private static void awaitEnd(RemoteClient client, Run run) {
        try (EventStream events = client.events().follow(run.sandbox().value(), Events.Filter.ALL)) {
            while (true) {
                var event = events.next();
                if (event.isRunEnd() && event.data().contains(run.id().value())) {
                    return;
                }
            }
        }
    }
}
