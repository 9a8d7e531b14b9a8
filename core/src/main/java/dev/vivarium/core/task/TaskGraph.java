package dev.vivarium.core.task;

import static dev.vivarium.model.Failure.InvalidRequest.require;

import dev.vivarium.model.Inherit;
import dev.vivarium.model.NewQueuedTask;
import dev.vivarium.model.Run;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.TaskPlan;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/// New tasks with their dependencies on each other and on tasks of the queue. Immutable.
///
/// @param ids      the id of each task
/// @param names    the index of each task with a name
/// @param edges    for each task, its dependencies in the same graph, as indexes
/// @param external for each task, its dependencies in the queue
record TaskGraph(
        List<NewQueuedTask> tasks,
        List<TaskId> ids,
        Map<String, Integer> names,
        List<Set<Integer>> edges,
        List<Set<TaskId>> external) {
    static final int MAX_TASKS = 1000;
    static final int MAX_DEPENDENCIES = 100;

    /// Resolves the names. Fails with `InvalidRequest` for an unknown name, a dependency of a task on itself, and a
    /// cycle, whose path it names. Takes linear time.
    static TaskGraph of(List<NewQueuedTask> tasks, List<TaskId> ids) {
        require(!tasks.isEmpty(), "tasks", "must not be empty");
        require(tasks.size() <= MAX_TASKS, "tasks", "must be at most " + MAX_TASKS + "; split the graph");
        Map<String, Integer> names = names(tasks);
        var edges = new ArrayList<Set<Integer>>();
        var external = new ArrayList<Set<TaskId>>();
        for (int i = 0; i < tasks.size(); i++) {
            edges.add(new LinkedHashSet<>());
            external.add(new LinkedHashSet<>());
            String field = field(tasks, i, "depends_on");
            List<String> wanted = tasks.get(i).dependsOn();
            require(wanted.size() <= MAX_DEPENDENCIES, field, "must have at most " + MAX_DEPENDENCIES + " entries");
            for (String name : wanted) {
                Integer target = names.get(name);
                if (target == null) {
                    require(TaskId.isWellFormed(name), field, unknown(name));
                    external.get(i).add(new TaskId(name));
                } else {
                    require(target != i, field, "must not contain the task itself: " + name + " → " + name);
                    edges.get(i).add(target);
                }
            }
        }
        var graph = new TaskGraph(List.copyOf(tasks), List.copyOf(ids), names, edges, external);
        graph.requireNoCycle();
        graph.requireInheritance();
        return graph;
    }

    private static Map<String, Integer> names(List<NewQueuedTask> tasks) {
        var names = new HashMap<String, Integer>();
        for (int i = 0; i < tasks.size(); i++) {
            var name = tasks.get(i).name();
            String field = field(tasks, i, "name");
            name.ifPresent(text -> require(
                    text.matches("[^\\p{Cntrl}]{1,100}"), field, "must be 1 to 100 characters, no control characters"));
            name.ifPresent(text -> require(!TaskId.isWellFormed(text), field, "must not look like a task_id"));
            if (name.isPresent() && names.put(name.get(), i) != null) {
                throw SandboxException.invalid(field, "is the name of two tasks: " + name.get());
            }
        }
        return names;
    }

    /// Returns the path of a field of a task in the request. A task that is added alone has no name.
    private static String field(List<NewQueuedTask> tasks, int index, String name) {
        boolean isAlone = tasks.size() == 1 && tasks.getFirst().name().isEmpty();
        return isAlone ? name : "tasks[" + index + "]." + name;
    }

    String field(int index) {
        return field(tasks, index, "depends_on");
    }

    /// A task inherits only from a task that it depends on, which has completed when the task starts.
    private void requireInheritance() {
        for (int i = 0; i < tasks.size(); i++) {
            NewQueuedTask task = tasks.get(i);
            String field = field(tasks, i, "inherit.from");
            task.plan().inherit().ifPresent(inherit -> {
                boolean isKnown = names.containsKey(inherit.from()) || TaskId.isWellFormed(inherit.from());
                require(isKnown, field, unknown(inherit.from()));
                require(
                        task.dependsOn().contains(inherit.from()),
                        field,
                        "must be one of depends_on, not " + inherit.from());
            });
        }
    }

    /// Fails with `InvalidRequest` if a task cannot inherit from a task with this plan.
    void requireHeritable(int index, TaskPlan parent) {
        Inherit inherit = tasks.get(index).plan().inherit().orElseThrow();
        String field = field(tasks, index, "inherit");
        Optional<Run.Program> other = parent.program();
        require(
                other.isPresent(),
                field + ".from",
                "names a task without a runtime: a worker outside of the server leaves no files and no conversation");
        Run.Runtime runtime = other.orElseThrow().runtime();
        boolean isSame =
                tasks.get(index).plan().program().map(Run.Program::runtime).equals(Optional.of(runtime));
        require(
                !inherit.conversation() || isSame && runtime != Run.Runtime.COMMAND,
                field + ".conversation",
                "needs two agents of the same runtime, claude or openhands");
    }

    /// Returns the task of this graph with a name.
    Optional<Integer> sibling(String name) {
        return Optional.ofNullable(names.get(name));
    }

    TaskId idOf(String name) {
        return sibling(name).map(ids::get).orElseGet(() -> new TaskId(name));
    }

    /// Returns the rule that a dependency on an unknown task violates.
    static String unknown(String name) {
        return "names no task of this graph and none of your tasks: "
                + (name.length() <= 64 ? name : name.substring(0, 64) + "…");
    }

    /// Removes tasks without dependencies, one after the other. The rest has a cycle.
    private void requireNoCycle() {
        List<List<Integer>> dependents = dependents();
        var open = new int[tasks.size()];
        var free = new ArrayDeque<Integer>();
        for (int i = 0; i < open.length; i++) {
            open[i] = edges.get(i).size();
            if (open[i] == 0) {
                free.add(i);
            }
        }
        int removed = 0;
        for (Integer next = free.poll(); next != null; next = free.poll()) {
            removed++;
            for (int dependent : dependents.get(next)) {
                if (--open[dependent] == 0) {
                    free.add(dependent);
                }
            }
        }
        if (removed < open.length) {
            List<Integer> cycle = cycle(open);
            throw SandboxException.invalid(field(cycle.getFirst()), "makes a cycle: " + path(cycle));
        }
    }

    private List<List<Integer>> dependents() {
        var dependents = new ArrayList<List<Integer>>();
        edges.forEach(_ -> dependents.add(new ArrayList<>()));
        for (int i = 0; i < edges.size(); i++) {
            for (int target : edges.get(i)) {
                dependents.get(target).add(i);
            }
        }
        return dependents;
    }

    /// Follows dependencies among the rest until a task repeats. Each task of the rest depends on another one.
    private List<Integer> cycle(int[] open) {
        var path = new ArrayList<Integer>();
        var seen = new HashSet<Integer>();
        int at = 0;
        while (open[at] == 0) {
            at++;
        }
        while (seen.add(at)) {
            path.add(at);
            at = edges.get(at).stream()
                    .filter(next -> open[next] > 0)
                    .findFirst()
                    .orElseThrow();
        }
        List<Integer> cycle = new ArrayList<>(path.subList(path.indexOf(at), path.size()));
        cycle.add(at);
        return cycle;
    }

    private String path(List<Integer> cycle) {
        String text = cycle.stream()
                .limit(20)
                .map(index -> tasks.get(index).name().orElse("tasks[" + index + "]"))
                .collect(Collectors.joining(" → "));
        return cycle.size() <= 20 ? text : text + " → … (" + (cycle.size() - 1) + " tasks)";
    }

    /// Returns the ids of all dependencies of a task.
    List<TaskId> dependencies(int index) {
        var all = new ArrayList<TaskId>();
        edges.get(index).forEach(target -> all.add(ids.get(target)));
        all.addAll(external.get(index));
        return all;
    }
}
