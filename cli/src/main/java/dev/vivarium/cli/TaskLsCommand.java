package dev.vivarium.cli;

import dev.vivarium.model.QueuedTask;
import dev.vivarium.model.Task;
import dev.vivarium.sdk.Tasks;
import dev.vivarium.sdk.Tasks.TaskRecord;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(name = "ls", description = "List your tasks, newest first.")
final class TaskLsCommand implements Callable<Integer> {
    private static final int MAX_PAGE = 1000;

    @Mixin
    private final Invocation viv;

    @Option(
            names = "--status",
            paramLabel = "STATUS",
            description = "pending, ready, assigned, running, retrying, blocked, completed, failed or cancelled.")
    private Task.@Nullable Status status;

    @Option(names = "--agent-type", paramLabel = "TYPE", description = "Only tasks of this type.")
    private @Nullable String agentType;

    @Option(names = "--limit", paramLabel = "NUMBER", description = "Maximum number of tasks (100).")
    private int limit = 100;

    @Option(
            names = {"-q", "--quiet"},
            description = "Only the ids.")
    private boolean quiet;

    TaskLsCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        List<TaskRecord> tasks = read(viv.client().tasks());
        if (viv.isJson()) {
            tasks.forEach(task -> viv.printJson(task.json()));
        } else if (quiet) {
            tasks.forEach(task -> viv.out().println(task.id()));
        } else {
            table(tasks);
        }
        return 0;
    }

    private List<TaskRecord> read(Tasks client) {
        var filter = new Tasks.Filter(
                Optional.ofNullable(status),
                Optional.ofNullable(agentType),
                Math.min(limit, MAX_PAGE),
                Optional.empty());
        Tasks.Page page = client.list(filter);
        var tasks = new ArrayList<>(page.tasks());
        while (page.next().isPresent() && tasks.size() < limit) {
            page = client.list(filter.from(page.next().get()));
            tasks.addAll(page.tasks());
        }
        return tasks.subList(0, Math.min(limit, tasks.size()));
    }

    private void table(List<TaskRecord> tasks) {
        var table = viv.table("TASK", "STATUS", "PRIORITY", "RUNTIME", "ATTEMPTS", "COST", "CREATED", "TITLE");
        for (TaskRecord entry : tasks) {
            QueuedTask task = entry.task();
            table.row(
                    entry.id().value(),
                    entry.status().text(),
                    task.plan().schedule().priority().text(),
                    task.plan()
                            .program()
                            .map(program -> program.runtime().text())
                            .orElse("-"),
                    Integer.toString(task.attempts().size()),
                    dollars(task.costUsd()),
                    table.time(task.task().createdAt()),
                    task.task().wanted().title());
        }
        table.print();
    }

    static String dollars(BigDecimal cost) {
        return "$" + cost.setScale(4, RoundingMode.HALF_UP);
    }
}
