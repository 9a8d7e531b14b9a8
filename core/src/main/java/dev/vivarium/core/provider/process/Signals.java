package dev.vivarium.core.provider.process;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/// `kill(2)`, for the two signals that Java cannot send. Stateless.
final class Signals {
    private static final int SIGCONT = 18;
    private static final int SIGSTOP = 19;

    private static final MethodHandle KILL = kill();

    private Signals() {}

    static void stop(long pid) {
        send(pid, SIGSTOP);
    }

    static void cont(long pid) {
        send(pid, SIGCONT);
    }

    private static void send(long pid, int signal) {
        try {
            // The process may be gone, so the result is ignored.
            int ignored = (int) KILL.invokeExact((int) pid, signal);
        } catch (Throwable e) {
            throw new AssertionError("kill(2) takes two ints", e);
        }
    }

    private static MethodHandle kill() {
        var linker = Linker.nativeLinker();
        var shape = FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT);
        return linker.downcallHandle(linker.defaultLookup().findOrThrow("kill"), shape);
    }
}
