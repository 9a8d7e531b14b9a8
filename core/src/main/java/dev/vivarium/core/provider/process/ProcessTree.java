package dev.vivarium.core.provider.process;

import dev.vivarium.core.provider.HostProcess;
import dev.vivarium.core.provider.Machine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongConsumer;

/// Processes of one machine: the guest, its descendants, and processes that lost their parent. Thread-safe.
///
/// @param mark      in the environment of the guest, to detect a process that reused its number
/// @param workspace a process with this working directory belongs to the machine, whatever its parent is
record ProcessTree(String mark, Path workspace) {
    private static final long PAGE = 4096;
    private static final long TICK_NANOS = 10_000_000;
    private static final int USER_TICKS_FIELD = 11;
    private static final int PAGES_FIELD = 21;

    boolean isGuest(long pid) {
        return HostProcess.isAlive(pid) && HostProcess.read(pid, "environ").contains(mark);
    }

    /// Every process, parents before children.
    Set<Long> all() {
        var all = new LinkedHashSet<Long>();
        ProcessHandle.allProcesses()
                .map(ProcessHandle::pid)
                .filter(this::belongs)
                .forEach(root -> {
                    all.add(root);
                    ProcessHandle.of(root)
                            .ifPresent(handle -> handle.descendants()
                                    .map(ProcessHandle::pid)
                                    .filter(HostProcess::isAlive)
                                    .forEach(all::add));
                });
        return all;
    }

    private boolean belongs(long pid) {
        return isGuest(pid) || (HostProcess.isAlive(pid) && isInWorkspace(pid));
    }

    private boolean isInWorkspace(long pid) {
        try {
            return Files.readSymbolicLink(Path.of("/proc/" + pid + "/cwd")).startsWith(workspace);
        } catch (IOException e) {
            return false;
        }
    }

    /// Signals all processes, repeatedly until no new process appears.
    void forEach(LongConsumer action) {
        var done = new LinkedHashSet<Long>();
        while (done.addAll(all())) {
            List.copyOf(done).forEach(action::accept);
        }
    }

    Machine.Usage usage() {
        long memory = 0;
        long ticks = 0;
        var all = all();
        for (long pid : all) {
            var fields = fields(pid);
            if (fields.size() > PAGES_FIELD) {
                memory += PAGE * Long.parseLong(fields.get(PAGES_FIELD));
                ticks +=
                        Long.parseLong(fields.get(USER_TICKS_FIELD)) + Long.parseLong(fields.get(USER_TICKS_FIELD + 1));
            }
        }
        return new Machine.Usage(memory, Duration.ofNanos(ticks * TICK_NANOS), all.size(), 0);
    }

    /// Fields of `stat` after the name of the program, which can contain any character.
    private static List<String> fields(long pid) {
        var stat = HostProcess.read(pid, "stat");
        int end = stat.lastIndexOf(')');
        return end < 0 ? List.of() : List.of(stat.substring(end + 2).split(" "));
    }
}
