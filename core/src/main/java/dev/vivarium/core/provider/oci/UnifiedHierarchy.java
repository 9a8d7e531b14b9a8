package dev.vivarium.core.provider.oci;

import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/// The hierarchy of cgroup version 2, as it is mounted here. Thread-safe: the kernel keeps the state.
record UnifiedHierarchy(Path root) {
    private static final List<String> NEEDED = List.of("cpu", "memory", "pids");
    private static final String HANDED_DOWN = "cgroup.subtree_control";
    private static final String REFUGE = "init";
    private static final int ATTEMPTS = 100;

    /// The controllers that machines need and that it does not offer.
    List<String> missing() {
        return lacking("cgroup.controllers");
    }

    private List<String> lacking(String file) {
        var there = Arrays.asList(ControlFiles.read(root, file).split(" "));
        return NEEDED.stream().filter(name -> !there.contains(name)).toList();
    }

    /// Lets every group on the way down to `branch`, and those in it, have the controllers.
    void handDownTo(Path branch) throws IOException {
        if (isPartOfALargerOne() && !lacking(HANDED_DOWN).isEmpty()) {
            vacate();
        }
        var request = "+" + String.join(" +", NEEDED);
        ControlFiles.write(root, HANDED_DOWN, request);
        var directory = root;
        for (var name : root.relativize(branch)) {
            directory = directory.resolve(name);
            ControlFiles.write(directory, HANDED_DOWN, request);
        }
    }

    /// Reports whether this is a container, whose root is an inner group of the host. Only the very top has no
    /// type.
    private boolean isPartOfALargerOne() {
        return Files.exists(root.resolve("cgroup.type"));
    }

    /// Moves the container's processes, this one among them, one group down: an inner group may have processes or
    /// controllers to hand down, not both. Those that start meanwhile are found at the next look.
    private void vacate() throws IOException {
        var refuge = Files.createDirectories(root.resolve(REFUGE));
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            // Who is in a process namespace that we cannot see has the number 0, which would mean ourselves.
            var movable =
                    ControlFiles.processes(root).stream().filter(pid -> pid > 0).toList();
            if (movable.isEmpty()) {
                return;
            }
            movable.forEach(pid -> move(pid, refuge));
        }
    }

    private static void move(long pid, Path group) {
        try {
            ControlFiles.write(group, "cgroup.procs", Long.toString(pid));
        } catch (SandboxException e) {
            // It has ended. If it is still there, the next look finds it.
        }
    }
}
