package dev.vivarium.core.provider.process;

import dev.vivarium.core.provider.HostProcess;
import dev.vivarium.core.provider.Machine;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.LongConsumer;
import java.util.stream.Collectors;

/// Processes of one machine: the guest, its descendants, and processes that lost their parent. Thread-safe.
///
/// @param mark      in the environment of the guest, to detect a process that reused its number
/// @param workspace a process with this working directory belongs to the machine, whatever its parent is
record ProcessTree(String mark, Path workspace) {
    private static final Path PROC = Path.of("/proc");
    private static final long PAGE = 4096;
    private static final long TICK_NANOS = 10_000_000;

    /// Start of the name of every guest. Only its environment is read, because reading it is expensive.
    private static final String GUEST = "vivarium-guest";

    boolean isGuest(long pid) {
        return HostProcess.isAlive(pid) && hasMark(pid);
    }

    private boolean hasMark(long pid) {
        return HostProcess.read(pid, "environ").contains(mark);
    }

    /// Every process, parents before children.
    Set<Long> all() {
        return stats().keySet();
    }

    private Map<Long, Stat> stats() {
        Map<Long, Stat> host = hostStats();
        Map<Long, List<Stat>> children = host.values().stream().collect(Collectors.groupingBy(Stat::parent));
        var all = new LinkedHashMap<Long, Stat>();
        for (Stat root : host.values()) {
            if (!all.containsKey(root.pid) && belongs(root)) {
                addTree(root, children, all);
            }
        }
        return all;
    }

    /// Reads every process of the host once.
    private static Map<Long, Stat> hostStats() {
        var found = new TreeMap<Long, Stat>();
        try (var names = Files.newDirectoryStream(PROC, "[0-9]*")) {
            for (Path name : names) {
                Stat.read(Long.parseLong(name.getFileName().toString()))
                        .filter(Stat::isAlive)
                        .ifPresent(stat -> found.put(stat.pid, stat));
            }
        } catch (IOException e) {
            throw new SandboxException(new Failure.ProviderFailed("list /proc", String.valueOf(e)), e);
        }
        return found;
    }

    private static void addTree(Stat root, Map<Long, List<Stat>> children, Map<Long, Stat> all) {
        var open = new ArrayDeque<>(List.of(root));
        while (!open.isEmpty()) {
            Stat next = open.remove();
            if (all.putIfAbsent(next.pid, next) == null) {
                open.addAll(children.getOrDefault(next.pid, List.of()));
            }
        }
    }

    private boolean belongs(Stat stat) {
        return stat.name.startsWith(GUEST) && hasMark(stat.pid) || isInWorkspace(stat.pid);
    }

    private boolean isInWorkspace(long pid) {
        try {
            return Files.readSymbolicLink(PROC.resolve(pid + "/cwd")).startsWith(workspace);
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
        var all = stats().values();
        long pages = all.stream().mapToLong(Stat::pages).sum();
        long ticks = all.stream().mapToLong(Stat::ticks).sum();
        return new Machine.Usage(PAGE * pages, Duration.ofNanos(TICK_NANOS * ticks), all.size(), 0);
    }

    /// Content of `/proc/PID/stat`.
    ///
    /// @param ticks CPU time
    /// @param pages resident memory
    private record Stat(long pid, String name, char state, long parent, long ticks, long pages) {
        private static final int PARENT = 1;
        private static final int USER_TICKS = 11;
        private static final int SYSTEM_TICKS = 12;
        private static final int PAGES = 21;

        /// Returns empty if the process is gone. The name is in parentheses and can contain any character.
        static Optional<Stat> read(long pid) {
            String text = HostProcess.read(pid, "stat");
            int end = text.lastIndexOf(')');
            if (end < 0) {
                return Optional.empty();
            }
            String[] fields = text.substring(end + 2).split(" ", PAGES + 2);
            return Optional.of(new Stat(
                    pid,
                    text.substring(text.indexOf('(') + 1, end),
                    fields[0].charAt(0),
                    Long.parseLong(fields[PARENT]),
                    Long.parseLong(fields[USER_TICKS]) + Long.parseLong(fields[SYSTEM_TICKS]),
                    Long.parseLong(fields[PAGES])));
        }

        boolean isAlive() {
            return state != 'Z' && state != 'X';
        }
    }
}
