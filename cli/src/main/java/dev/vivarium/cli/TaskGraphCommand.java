package dev.vivarium.cli;

import dev.vivarium.cli.task.TaskTree;
import dev.vivarium.sdk.Tasks.TaskRecord;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@Command(
        name = "graph",
        description = "Show all tasks that are connected with a task, with their states.",
        footer = {"", "A task is below and right of the task that it depends on."})
final class TaskGraphCommand implements Callable<Integer> {
    @Mixin
    private final Invocation viv;

    @Parameters(index = "0", paramLabel = "TASK_ID", description = "Id of a task of the graph.")
    private String id = "";

    TaskGraphCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        List<TaskRecord> tasks = viv.client().tasks().graph(id);
        if (viv.isJson()) {
            tasks.forEach(task -> viv.printJson(task.json()));
            return 0;
        }
        var table = viv.table("TASK", "STATUS", "TITLE");
        for (TaskTree.Line line :
                TaskTree.of(tasks.stream().map(TaskRecord::task).toList())) {
            table.row(
                    line.task().task().id().value(), line.task().task().status().text(), line.title());
        }
        table.print();
        return 0;
    }
}
