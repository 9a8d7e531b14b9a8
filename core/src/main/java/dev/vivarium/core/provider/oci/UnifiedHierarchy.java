package dev.vivarium.core.provider.oci;

import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/// Mounted hierarchy of cgroup version 2. Thread-safe: the kernel holds the state.
record UnifiedHierarchy(Path root) {
    private static final List<String> NEEDED = List.of("cpu", "memory", "pids");
    private static final String SUBTREE_CONTROL = "cgroup.subtree_control";
    private static final String REFUGE = "init";
    private static final int ATTEMPTS = 100;

    /// Required controllers that are not available.
    List<String> missing() {
        return missingIn("cgroup.controllers");
    }

    private List<String> missingIn(String file) {
        var present = Arrays.asList(ControlFiles.read(root, file).split(" "));
        return NEEDED.stream().filter(name -> !present.contains(name)).toList();
    }

    /// Enables the controllers in every group down to `branch`, and for its children.
    void enableControllers(Path branch) throws IOException {
        if (isContainer() && !missingIn(SUBTREE_CONTROL).isEmpty()) {
            vacate();
        }
        var request = "+" + String.join(" +", NEEDED);
        ControlFiles.write(root, SUBTREE_CONTROL, request);
        var directory = root;
        for (var name : root.relativize(branch)) {
            directory = directory.resolve(name);
            ControlFiles.write(directory, SUBTREE_CONTROL, request);
        }
    }

    /// Reports whether this is a container, whose root is an inner group of the host. Only the root of the host has
    /// no type.
    private boolean isContainer() {
        return Files.exists(root.resolve("cgroup.type"));
    }

    /// Moves the processes of the container, including this one, into a child group: an inner group can have
    /// processes or enabled controllers, not both. Processes that start meanwhile are moved in the next pass.
    private void vacate() throws IOException {
        var refuge = Files.createDirectories(root.resolve(REFUGE));
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            // A process in an invisible process namespace has the number 0, which would mean this process.
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
            // The process has exited. Otherwise, the next pass finds it.
        }
    }
}
