package dev.vivarium.cli.task;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.model.NewTask;
import dev.vivarium.model.QueuedTask;
import dev.vivarium.model.Task;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.TaskPlan;
import dev.vivarium.model.UserId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class TaskTreeTest {
    private static TaskId id(String name) {
        return new TaskId("tsk" + name.repeat(20).substring(0, 20));
    }

    private static QueuedTask task(String name, String... dependencies) {
        var wanted = new NewTask(name, "", Optional.empty(), Optional.empty(), "{}", "{}");
        var task = new Task(
                id(name),
                new UserId("ann"),
                wanted,
                Task.Status.PENDING,
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Instant.EPOCH,
                Instant.EPOCH);
        return new QueuedTask(
                task,
                TaskPlan.of(Optional.empty()),
                Arrays.stream(dependencies).map(TaskTreeTest::id).toList(),
                List.of(),
                Optional.empty());
    }

    private static List<String> titles(QueuedTask... tasks) {
        return TaskTree.of(List.of(tasks)).stream().map(TaskTree.Line::title).toList();
    }

    @Test
    void aTaskIsBelowItsDependency() {
        assertThat(titles(task("b", "a"), task("a"), task("c", "b"), task("d")))
                .containsExactly("a", "  b", "    c", "d");
    }

    @Test
    void aTaskWithSeveralDependenciesHasOneLineBelowTheLastOfThem() {
        assertThat(titles(task("a"), task("b", "a"), task("c", "a", "b"), task("d", "a")))
                .containsExactly("a", "  b", "    c  (also after " + id("a") + ")", "  d");
    }

    @Test
    void aDependencyOutsideOfTheListIsNamed() {
        assertThat(titles(task("b", "x"))).containsExactly("b  (also after " + id("x") + ")");
    }

    @Test
    void aLongRowNeedsNoStack() {
        var tasks = new ArrayList<QueuedTask>();
        for (int i = 0; i < 1000; i++) {
            String name = "%04d".formatted(i);
            tasks.add(i == 0 ? task(name) : task(name, "%04d".formatted(i - 1)));
        }

        assertThat(TaskTree.of(tasks))
                .hasSize(1000)
                .last()
                .satisfies(line -> assertThat(line.title()).endsWith(" 0999"));
    }
}
