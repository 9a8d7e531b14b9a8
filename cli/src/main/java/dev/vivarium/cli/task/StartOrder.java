package dev.vivarium.cli.task;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/// Order in which the tasks of a graph can start. Takes linear time. Stateless.
final class StartOrder {
    private static final int NEVER = 0;

    private StartOrder() {}

    /// Returns a step for each task, from 1. A task can start when its dependencies, which have lower steps, are
    /// completed. The step is 0 for a task that is on a cycle or depends on one.
    static int[] steps(List<Set<Integer>> dependencies) {
        var steps = new int[dependencies.size()];
        var open = new int[dependencies.size()];
        var dependents = dependents(dependencies);
        var free = new ArrayDeque<Integer>();
        for (int i = 0; i < open.length; i++) {
            open[i] = dependencies.get(i).size();
            if (open[i] == 0) {
                free.add(i);
            }
        }
        for (Integer next = free.poll(); next != null; next = free.poll()) {
            steps[next] = 1
                    + dependencies.get(next).stream()
                            .mapToInt(i -> steps[i])
                            .max()
                            .orElse(0);
            for (int dependent : dependents.get(next)) {
                if (--open[dependent] == 0) {
                    free.add(dependent);
                }
            }
        }
        return steps;
    }

    private static List<List<Integer>> dependents(List<Set<Integer>> dependencies) {
        var dependents = new ArrayList<List<Integer>>();
        dependencies.forEach(_ -> dependents.add(new ArrayList<>()));
        for (int i = 0; i < dependencies.size(); i++) {
            for (int target : dependencies.get(i)) {
                dependents.get(target).add(i);
            }
        }
        return dependents;
    }

    /// Returns the tasks of a cycle, the first one also as the last, or nothing if there is no cycle.
    static List<Integer> cycle(List<Set<Integer>> dependencies, int[] steps) {
        int at = Arrays.stream(steps).boxed().toList().indexOf(NEVER);
        if (at < 0) {
            return List.of();
        }
        var path = new ArrayList<Integer>();
        var seen = new HashSet<Integer>();
        while (seen.add(at)) {
            path.add(at);
            at = dependencies.get(at).stream()
                    .filter(next -> steps[next] == NEVER)
                    .findFirst()
                    .orElseThrow();
        }
        List<Integer> cycle = new ArrayList<>(path.subList(path.indexOf(at), path.size()));
        cycle.add(at);
        return cycle;
    }
}
