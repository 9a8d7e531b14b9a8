package dev.vivarium.cli;

import dev.vivarium.cli.task.GraphFile;
import dev.vivarium.cli.task.GraphFile.PlannedTask;
import dev.vivarium.cli.task.TaskWait;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.Task;
import dev.vivarium.model.TaskId;
import dev.vivarium.sdk.Tasks;
import dev.vivarium.sdk.Tasks.AddedTask;
import dev.vivarium.sdk.Tasks.TaskRecord;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// Adds a graph of tasks, all tasks or none. Ctrl-C ends the wait, not the tasks.
@Command(
        name = "apply",
        description = "Add the graph of tasks in a YAML file.",
        footer = {
            "",
            "  tasks:",
            "    - name: build",
            "      title: Build it",
            "      runtime: command",
            "      command: [make]",
            "    - title: Test it",
            "      runtime: command",
            "      command: [make, test]",
            "      depends_on: [build]",
            "",
            "An error names the line and the task, and then nothing is added. With --wait, returns 0 if all tasks",
            "completed, otherwise 1."
        })
final class TaskApplyCommand implements Callable<Integer> {
    private static final int MAX_BYTES = 4 * 1024 * 1024;

    @Mixin
    private final Invocation viv;

    @Option(
            names = {"-n", "--dry-run"},
            description = "Check the file and print the order in which the tasks can start; add nothing.")
    private boolean dryRun;

    @Option(
            names = {"-w", "--wait"},
            description = "Wait until no task can change any more, and show the progress.")
    private boolean wait;

    @Parameters(index = "0", paramLabel = "FILE", description = "YAML file; - for standard input.")
    private String file = "";

    TaskApplyCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        GraphFile graph = GraphFile.read(file.equals("-") ? "standard input" : file, text());
        if (dryRun) {
            printPlan(graph.plan());
            return 0;
        }
        Account account = viv.account();
        Tasks tasks = viv.client(account).tasks();
        Map<TaskId, String> added = add(tasks, graph, account.user().filter(user -> !user.isEmpty()));
        if (!wait) {
            return 0;
        }
        return await(tasks, added) ? 0 : ExitCode.FAILURE;
    }

    private String text() {
        try (InputStream in = file.equals("-") ? viv.terminal().in() : Files.newInputStream(Path.of(file))) {
            byte[] bytes = in.readNBytes(MAX_BYTES + 1);
            if (bytes.length > MAX_BYTES) {
                throw SandboxException.invalid(file, "is larger than " + MAX_BYTES + " bytes; split the graph");
            }
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException e) {
            throw SandboxException.invalid(file, "is not UTF-8 text");
        } catch (IOException e) {
            throw new UncheckedIOException(String.valueOf(e.getMessage()), e);
        }
    }

    private void printPlan(List<PlannedTask> plan) {
        if (viv.isJson()) {
            plan.forEach(task -> viv.json(out -> {
                out.writeNumberProperty("step", task.step());
                out.writeStringProperty("name", task.label());
                out.writeStringProperty("title", task.title());
                out.writeStringProperty("priority", task.priority().text());
                out.writeArrayPropertyStart("depends_on");
                task.dependencies().forEach(out::writeString);
                out.writeEndArray();
            }));
            return;
        }
        var table = viv.table("STEP", "NAME", "PRIORITY", "AFTER", "TITLE");
        plan.forEach(task -> table.row(
                Integer.toString(task.step()),
                task.label(),
                task.priority().text(),
                task.dependencies().isEmpty() ? "-" : String.join(", ", task.dependencies()),
                task.title()));
        table.print();
    }

    /// Returns the names of the new tasks by their ids, in the order of the file.
    private Map<TaskId, String> add(Tasks tasks, GraphFile graph, Optional<String> user) {
        List<AddedTask> added;
        try {
            added = tasks.addGraphJson(graph.json(user));
        } catch (SandboxException e) {
            throw graph.located(e);
        }
        var names = new LinkedHashMap<TaskId, String>();
        for (int i = 0; i < added.size(); i++) {
            names.put(added.get(i).id(), graph.labels().get(i));
        }
        printAdded(names);
        return names;
    }

    private void printAdded(Map<TaskId, String> names) {
        if (viv.isJson()) {
            names.forEach((id, name) -> viv.json(out -> {
                out.writeStringProperty("name", name);
                out.writeStringProperty("task_id", id.value());
            }));
        } else if (wait) {
            viv.note(names.size() + " tasks; the first is "
                    + names.keySet().iterator().next());
        } else {
            var table = viv.table("NAME", "TASK");
            names.forEach((id, name) -> table.row(name, id.value()));
            table.print();
        }
    }

    /// Reports whether all tasks completed.
    private boolean await(Tasks tasks, Map<TaskId, String> names) {
        String first = names.keySet().iterator().next().value();
        var comeBack = new Thread(() -> viv.note("the tasks continue; viv task graph " + first + " shows them"));
        Runtime.getRuntime().addShutdownHook(comeBack);
        var ended = new TaskWait(tasks, new Changes(viv, names)).await(names.keySet());
        Runtime.getRuntime().removeShutdownHook(comeBack);
        if (!viv.isJson()) {
            printEnd(names, ended);
        }
        return ended.stream().allMatch(task -> task.status() == Task.Status.COMPLETED);
    }

    private void printEnd(Map<TaskId, String> names, List<TaskRecord> ended) {
        var table = viv.table("NAME", "TASK", "STATUS", "ATTEMPTS", "COST", "REASON");
        for (TaskRecord task : ended) {
            table.row(
                    names.getOrDefault(task.id(), ""),
                    task.id().value(),
                    task.status().text(),
                    Integer.toString(task.task().attempts().size()),
                    TaskLsCommand.dollars(task.task().costUsd()),
                    task.status() == Task.Status.COMPLETED
                            ? ""
                            : task.task().task().message().orElse(""));
        }
        table.print();
    }

    /// Prints each change of a status: a line for people, or a JSON object.
    private record Changes(Invocation viv, Map<TaskId, String> names) implements TaskWait.Listener {
        @Override
        public void changed(TaskRecord task) {
            String name = names.getOrDefault(task.id(), "");
            int attempt = task.task().attempts().size();
            if (!viv.isJson()) {
                viv.note(name + ": " + task.status().text() + (attempt > 1 ? " (attempt " + attempt + ")" : ""));
                return;
            }
            viv.json(out -> {
                out.writeStringProperty("name", name);
                out.writeStringProperty("task_id", task.id().value());
                out.writeStringProperty("status", task.status().text());
                out.writeNumberProperty("attempts", attempt);
                out.writeNumberProperty("cost_usd", task.task().costUsd());
                task.task().task().message().ifPresent(why -> out.writeStringProperty("message", why));
            });
        }

        @Override
        public void unreachable(Failure failure) {
            if (!viv.isJson()) {
                viv.note(failure.sentence() + "; the tasks continue, and viv tries again");
            }
        }
    }
}
