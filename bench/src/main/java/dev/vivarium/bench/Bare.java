package dev.vivarium.bench;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.List;

/// Baseline: direct calls of `posix_spawn` and `waitpid`, without a pipe, a shell or Java's process classes.
/// Thread-safe.
///
/// Every measurement is compared with it in the same run.
final class Bare {
    private static final int OPEN_ACTIONS_SIZE = 128;
    private static final int READ_SIZE = 65_536;

    private final MethodHandle spawn =
            function("posix_spawn", JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS);
    private final MethodHandle waitpid = function("waitpid", JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT);
    private final MethodHandle pipe = function("pipe", JAVA_INT, ADDRESS);
    private final MethodHandle read = function("read", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG);
    private final MethodHandle close = function("close", JAVA_INT, JAVA_INT);
    private final MethodHandle actionsInit = function("posix_spawn_file_actions_init", JAVA_INT, ADDRESS);
    private final MethodHandle actionsDup =
            function("posix_spawn_file_actions_adddup2", JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT);
    private final MethodHandle actionsClose =
            function("posix_spawn_file_actions_addclose", JAVA_INT, ADDRESS, JAVA_INT);
    private final MethodHandle actionsDestroy = function("posix_spawn_file_actions_destroy", JAVA_INT, ADDRESS);

    /// Returns a function of the C library.
    @SuppressWarnings("restricted") // The baselines call the C library directly on purpose.
    static MethodHandle function(String name, MemoryLayout result, MemoryLayout... parameters) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(
                linker.defaultLookup().findOrThrow(name), FunctionDescriptor.of(result, parameters));
    }

    /// Runs the program to its end and returns its exit status.
    int run(String... argv) {
        try (var arena = Arena.ofConfined()) {
            int pid = spawn(arena, MemorySegment.NULL, List.of(argv));
            return await(arena, pid);
        }
    }

    /// Runs the program, reads its standard output through a pipe to the end, and returns the number of bytes.
    long readAll(String... argv) {
        try (var arena = Arena.ofConfined()) {
            var ends = arena.allocate(JAVA_INT, 2);
            check("pipe", (int) pipe.invokeExact(ends));
            int readEnd = ends.getAtIndex(JAVA_INT, 0);
            int writeEnd = ends.getAtIndex(JAVA_INT, 1);
            int pid = spawn(arena, stdoutTo(arena, readEnd, writeEnd), List.of(argv));
            check("close", (int) close.invokeExact(writeEnd));
            long total = drain(arena, readEnd);
            check("close", (int) close.invokeExact(readEnd));
            await(arena, pid);
            return total;
        } catch (Throwable failure) {
            throw new IllegalStateException("reading from " + argv[0], failure);
        }
    }

    private long drain(Arena arena, int descriptor) throws Throwable {
        var buffer = arena.allocate(READ_SIZE);
        long total = 0;
        long count;
        while ((count = (long) read.invokeExact(descriptor, buffer, (long) READ_SIZE)) > 0) {
            total += count;
        }
        return total;
    }

    private MemorySegment stdoutTo(Arena arena, int readEnd, int writeEnd) throws Throwable {
        var actions = arena.allocate(OPEN_ACTIONS_SIZE);
        check("actions", (int) actionsInit.invokeExact(actions));
        check("dup", (int) actionsDup.invokeExact(actions, writeEnd, 1));
        check("close", (int) actionsClose.invokeExact(actions, readEnd));
        check("close", (int) actionsClose.invokeExact(actions, writeEnd));
        return actions;
    }

    private int spawn(Arena arena, MemorySegment actions, List<String> argv) {
        try {
            var pid = arena.allocate(JAVA_INT);
            var arguments = strings(arena, argv);
            var environment = strings(arena, List.of("PATH=/usr/local/bin:/usr/bin:/bin"));
            var path = arguments.get(ADDRESS, 0);
            check("posix_spawn " + argv.getFirst(), (int)
                    spawn.invokeExact(pid, path, actions, MemorySegment.NULL, arguments, environment));
            if (!actions.equals(MemorySegment.NULL)) {
                check("destroy", (int) actionsDestroy.invokeExact(actions));
            }
            return pid.get(JAVA_INT, 0);
        } catch (Throwable failure) {
            throw new IllegalStateException("spawning " + argv.getFirst(), failure);
        }
    }

    private int await(Arena arena, int pid) {
        try {
            var status = arena.allocate(JAVA_INT);
            if ((int) waitpid.invokeExact(pid, status, 0) != pid) {
                throw new IllegalStateException("waitpid lost process " + pid);
            }
            return status.get(JAVA_INT, 0) >> 8;
        } catch (Throwable failure) {
            throw new IllegalStateException("waiting for process " + pid, failure);
        }
    }

    private static MemorySegment strings(Arena arena, List<String> values) {
        var array = arena.allocate(ADDRESS, values.size() + 1L);
        for (int i = 0; i < values.size(); i++) {
            array.setAtIndex(ADDRESS, i, arena.allocateFrom(values.get(i)));
        }
        array.setAtIndex(ADDRESS, values.size(), MemorySegment.NULL);
        return array;
    }

    private static void check(String step, int result) {
        if (result != 0) {
            throw new IllegalStateException(step + " failed with " + result);
        }
    }
}
