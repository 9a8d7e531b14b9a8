package dev.vivarium.cli;

import dev.vivarium.sdk.Tasks;
import dev.vivarium.sdk.Tasks.TaskRecord;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@Command(name = "retry", description = "Start failed or cancelled tasks again.")
final class TaskRetryCommand implements Callable<Integer> {
    @Mixin
    private final Invocation viv;

    @Parameters(index = "0", arity = "1..*", paramLabel = "TASK_ID", description = "Ids of the tasks.")
    private List<String> ids = List.of();

    TaskRetryCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        Tasks tasks = viv.client().tasks();
        ids.forEach(id -> print(viv, tasks.retry(id)));
        return 0;
    }

    /// Prints the new status of a task.
    static void print(Invocation viv, TaskRecord task) {
        if (viv.isJson()) {
            viv.printJson(task.json());
        } else {
            viv.print(task.id() + "  " + task.status().text());
        }
    }
}
