package dev.vivarium.cli.task;

import dev.vivarium.model.QueuedTask;
import dev.vivarium.model.TaskId;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/// Graph of tasks as indented lines. Each task has one line, below the dependency that is last in the order of their
/// start. Stateless.
public final class TaskTree {
    private static final String INDENT = "  ";

    private TaskTree() {}

    /// A line of the graph.
    ///
    /// @param title the title, indented, with the ids of the other dependencies
    public record Line(QueuedTask task, String title) {}

    public static List<Line> of(List<QueuedTask> tasks) {
        List<Set<Integer>> dependencies = dependencies(tasks);
        int[] steps = StartOrder.steps(dependencies);
        var children = new ArrayList<List<Integer>>();
        tasks.forEach(_ -> children.add(new ArrayList<>()));
        var roots = new ArrayList<Integer>();
        var parents = new int[tasks.size()];
        for (int i = 0; i < tasks.size(); i++) {
            parents[i] = parent(dependencies.get(i), steps);
            (parents[i] < 0 ? roots : children.get(parents[i])).add(i);
        }
        var lines = new ArrayList<Line>();
        Deque<Integer> open = new ArrayDeque<>(roots);
        for (Integer next = open.poll(); next != null; next = open.poll()) {
            lines.add(line(tasks, next, parents[next], INDENT.repeat(Math.max(0, steps[next] - 1))));
            children.get(next).reversed().forEach(open::push);
        }
        return lines;
    }

    /// Dependencies that are not in the list have no index.
    private static List<Set<Integer>> dependencies(List<QueuedTask> tasks) {
        Map<TaskId, Integer> places = new HashMap<>();
        for (int i = 0; i < tasks.size(); i++) {
            places.put(tasks.get(i).task().id(), i);
        }
        return tasks.stream()
                .map(task -> task.dependsOn().stream()
                        .filter(places::containsKey)
                        .map(places::get)
                        .collect(Collectors.<Integer, Set<Integer>>toCollection(LinkedHashSet::new)))
                .toList();
    }

    private static int parent(Set<Integer> dependencies, int[] steps) {
        int parent = -1;
        for (int candidate : dependencies) {
            if (parent < 0 || steps[candidate] > steps[parent]) {
                parent = candidate;
            }
        }
        return parent;
    }

    private static Line line(List<QueuedTask> tasks, int index, int parent, String indent) {
        QueuedTask task = tasks.get(index);
        String others = task.dependsOn().stream()
                .filter(id -> parent < 0 || !id.equals(tasks.get(parent).task().id()))
                .map(TaskId::value)
                .collect(Collectors.joining(", "));
        String title = indent + task.task().wanted().title();
        return new Line(task, others.isEmpty() ? title : title + "  (also after " + others + ")");
    }
}
