package dev.vivarium.cli;

import dev.vivarium.model.GuardianPolicy;
import dev.vivarium.model.Inherit;
import dev.vivarium.model.QueuedTask;
import dev.vivarium.model.Race;
import dev.vivarium.model.Repository;
import dev.vivarium.model.Run;
import dev.vivarium.model.Task;
import dev.vivarium.model.TaskAttempt;
import dev.vivarium.model.TaskError;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.TaskPlan;
import dev.vivarium.sdk.Tasks.TaskRecord;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@Command(name = "show", description = "Show a task with its attempts and its result.")
final class TaskShowCommand implements Callable<Integer> {
    private static final int LABEL = 12;

    @Mixin
    private final Invocation viv;

    @Parameters(index = "0", paramLabel = "TASK_ID", description = "Id of the task.")
    private String id = "";

    TaskShowCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        TaskRecord task = viv.client().tasks().get(id);
        if (viv.isJson()) {
            viv.printJson(task.json());
        } else {
            print(task.task());
            attempts(task.task());
        }
        return 0;
    }

    private void print(QueuedTask entry) {
        Task task = entry.task();
        line("task", task.id().value());
        line("title", task.wanted().title());
        task.wanted().description().lines().forEach(text -> line("", text));
        line(
                "status",
                task.status().text() + task.message().map(why -> ": " + why).orElse(""));
        entry.nextAttemptAt().ifPresent(at -> line("next", "attempt at " + at));
        line("priority", entry.plan().schedule().priority().text());
        line("runtime", entry.plan().program().map(TaskShowCommand::program).orElse("a worker outside of the server"));
        if (!entry.dependsOn().isEmpty()) {
            line("after", entry.dependsOn().stream().map(TaskId::value).collect(Collectors.joining(", ")));
        }
        line("limits", Times.text(entry.plan().schedule().runTimeout()) + " for each attempt, " + retries(entry));
        printPlan(entry);
        line("cost", TaskLsCommand.dollars(entry.costUsd()));
        line("created", task.createdAt().toString());
        task.result().ifPresent(result -> line("result", result));
    }

    private void printPlan(QueuedTask entry) {
        TaskPlan plan = entry.plan();
        if (plan.program().isPresent()) {
            line("guardian", plan.guardian().map(GuardianPolicy::text).orElse("that of the server"));
        }
        plan.repository().ifPresent(work -> line("repository", repository(work)));
        plan.inherit().ifPresent(inherit -> line("inherit", inherited(inherit)));
        plan.race().ifPresent(race -> line("race", race(race, entry.attempts())));
    }

    private static String repository(Repository work) {
        return work.url()
                + work.base().map(base -> ", base " + base.value()).orElse("")
                + work.branch().map(branch -> ", branch " + branch.value()).orElse("")
                + work.ticket().map(ticket -> ", ticket " + ticket).orElse("")
                + ", credential " + work.credentialName()
                + work.onSuccess()
                        .map(action -> ", on success " + action.text())
                        .orElse("");
    }

    private static String inherited(Inherit inherit) {
        String parts = inherit.files() && inherit.conversation()
                ? "files and conversation"
                : inherit.files() ? "files" : "conversation";
        return parts + " of " + inherit.from();
    }

    private static String race(Race race, List<TaskAttempt> attempts) {
        String winner = attempts.stream()
                .filter(attempt -> attempt.status() == TaskAttempt.Status.COMPLETED)
                .findFirst()
                .map(attempt -> "; attempt " + attempt.number() + " won")
                .orElse("");
        return race.attempts() + " attempts, check: " + String.join(" ", race.check()) + winner;
    }

    private static String retries(QueuedTask entry) {
        int retries = entry.plan().schedule().maxRetries();
        return "at most " + (retries == 1 ? "1 retry" : retries + " retries");
    }

    private static String program(Run.Program program) {
        return program.runtime().text()
                + (program.command().isEmpty() ? "" : ": " + String.join(" ", program.command()))
                + program.model().map(model -> " with " + model).orElse("");
    }

    private void line(String label, String text) {
        viv.print(label + " ".repeat(LABEL - label.length()) + text);
    }

    private void attempts(QueuedTask task) {
        if (task.attempts().isEmpty()) {
            return;
        }
        viv.print("");
        var table = viv.table("ATTEMPT", "STATUS", "RUN", "SANDBOX", "STARTED", "TOOK", "COST", "ERROR", "MESSAGE");
        for (TaskAttempt attempt : task.attempts()) {
            table.row(
                    Integer.toString(attempt.number()),
                    attempt.status().text(),
                    attempt.run().map(Object::toString).or(attempt::worker).orElse("-"),
                    attempt.sandbox().map(Object::toString).orElse("-"),
                    table.time(attempt.startedAt()),
                    attempt.endedAt()
                            .map(end -> Table.age(Duration.between(attempt.startedAt(), end)))
                            .orElse("-"),
                    TaskLsCommand.dollars(attempt.costUsd()),
                    attempt.error().map(TaskShowCommand::error).orElse("-"),
                    attempt.error().map(TaskError::message).orElse(""));
        }
        table.print();
    }

    private static String error(TaskError error) {
        return error.kind().text() + (error.code().isEmpty() ? "" : " (" + error.code() + ")");
    }
}
