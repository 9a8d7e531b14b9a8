package dev.vivarium.bench;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.List;

/// Baseline: direct calls of `posix_spawn` and `waitpid`, without a pipe, a shell or Java's process classes.
/// Thread-safe.
///
/// Every measurement is compared with it in the same run.
final class Bare {
    private static final int OPEN_ACTIONS_SIZE = 128;
    private static final int READ_SIZE = 65_536;

    private final Linker linker = Linker.nativeLinker();
    private final SymbolLookup symbols = linker.defaultLookup();
    private final MethodHandle spawn = function(
            "posix_spawn",
            FunctionDescriptor.of(
                    ValueLayout.JAVA_INT,
                    ValueLayout.ADDRESS,
                    ValueLayout.ADDRESS,
                    ValueLayout.ADDRESS,
                    ValueLayout.ADDRESS,
                    ValueLayout.ADDRESS,
                    ValueLayout.ADDRESS));
    private final MethodHandle waitpid = function(
            "waitpid",
            FunctionDescriptor.of(
                    ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT));
    private final MethodHandle pipe =
            function("pipe", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS));
    private final MethodHandle read = function(
            "read",
            FunctionDescriptor.of(
                    ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG));
    private final MethodHandle close =
            function("close", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
    private final MethodHandle actionsInit =
            function("posix_spawn_file_actions_init", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS));
    private final MethodHandle actionsDup = function(
            "posix_spawn_file_actions_adddup2",
            FunctionDescriptor.of(
                    ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
    private final MethodHandle actionsClose = function(
            "posix_spawn_file_actions_addclose",
            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT));
    private final MethodHandle actionsDestroy = function(
            "posix_spawn_file_actions_destroy", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS));

    @SuppressWarnings("restricted") // This class calls the C library directly on purpose.
    private MethodHandle function(String name, FunctionDescriptor shape) {
        return linker.downcallHandle(symbols.findOrThrow(name), shape);
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
            var ends = arena.allocate(ValueLayout.JAVA_INT, 2);
            check("pipe", (int) pipe.invokeExact(ends));
            int readEnd = ends.getAtIndex(ValueLayout.JAVA_INT, 0);
            int writeEnd = ends.getAtIndex(ValueLayout.JAVA_INT, 1);
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
            var pid = arena.allocate(ValueLayout.JAVA_INT);
            var arguments = strings(arena, argv);
            var environment = strings(arena, List.of("PATH=/usr/local/bin:/usr/bin:/bin"));
            var path = arguments.get(ValueLayout.ADDRESS, 0);
            check("posix_spawn " + argv.getFirst(), (int)
                    spawn.invokeExact(pid, path, actions, MemorySegment.NULL, arguments, environment));
            if (!actions.equals(MemorySegment.NULL)) {
                check("destroy", (int) actionsDestroy.invokeExact(actions));
            }
            return pid.get(ValueLayout.JAVA_INT, 0);
        } catch (Throwable failure) {
            throw new IllegalStateException("spawning " + argv.getFirst(), failure);
        }
    }

    private int await(Arena arena, int pid) {
        try {
            var status = arena.allocate(ValueLayout.JAVA_INT);
            if ((int) waitpid.invokeExact(pid, status, 0) != pid) {
                throw new IllegalStateException("waitpid lost process " + pid);
            }
            return status.get(ValueLayout.JAVA_INT, 0) >> 8;
        } catch (Throwable failure) {
            throw new IllegalStateException("waiting for process " + pid, failure);
        }
    }

    private static MemorySegment strings(Arena arena, List<String> values) {
        var array = arena.allocate(ValueLayout.ADDRESS, values.size() + 1L);
        for (int i = 0; i < values.size(); i++) {
            array.setAtIndex(ValueLayout.ADDRESS, i, arena.allocateFrom(values.get(i)));
        }
        array.setAtIndex(ValueLayout.ADDRESS, values.size(), MemorySegment.NULL);
        return array;
    }

    private static void check(String step, int result) {
        if (result != 0) {
            throw new IllegalStateException(step + " failed with " + result);
        }
    }
}
