package dev.vivarium.cli;

import dev.vivarium.sdk.Tasks;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(name = "cancel", description = "Cancel tasks and stop their runs.")
final class TaskCancelCommand implements Callable<Integer> {
    @Mixin
    private final Invocation viv;

    @Option(
            names = "--dependents",
            paramLabel = "WHAT",
            description = "keep: block the tasks that depend on it until a retry; cancel: cancel them too (keep).")
    private Tasks.Dependents dependents = Tasks.Dependents.KEEP;

    @Parameters(index = "0", arity = "1..*", paramLabel = "TASK_ID", description = "Ids of the tasks.")
    private List<String> ids = List.of();

    TaskCancelCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        Tasks tasks = viv.client().tasks();
        ids.forEach(id -> TaskRetryCommand.print(viv, tasks.cancel(id, dependents)));
        return 0;
    }
}
