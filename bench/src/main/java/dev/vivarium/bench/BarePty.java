package dev.vivarium.bench;

import static dev.vivarium.bench.Bare.function;
import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;

/// Baseline for shells: a kernel terminal with a program and no layer between. Confined to one worker.
final class BarePty implements AutoCloseable {
    private static final int READ_WRITE_NO_CONTROL = 2 | 256;
    private static final int NAME = 128;
    private static final int BUFFER = 4096;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment buffer = arena.allocate(BUFFER);
    private final MethodHandle read = function("read", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG);
    private final MethodHandle write = function("write", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG);
    private final int master;
    private final Process process;

    private BarePty(String... argv) {
        try {
            master = (int) function("posix_openpt", JAVA_INT, JAVA_INT).invokeExact(READ_WRITE_NO_CONTROL);
            check((int) function("grantpt", JAVA_INT, JAVA_INT).invokeExact(master));
            check((int) function("unlockpt", JAVA_INT, JAVA_INT).invokeExact(master));
            check((int) function("ptsname_r", JAVA_INT, JAVA_INT, ADDRESS, JAVA_LONG)
                    .invokeExact(master, buffer, (long) NAME));
            var name = new File(buffer.getString(0));
            process = new ProcessBuilder(argv)
                    .redirectInput(name)
                    .redirectOutput(name)
                    .redirectError(name)
                    .start();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        } catch (Throwable failure) {
            throw new IllegalStateException("opening a terminal", failure);
        }
    }

    static BarePty start(String... argv) {
        return new BarePty(argv);
    }

    /// Types `text` and waits until as many bytes have returned.
    void echo(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        try {
            MemorySegment.copy(bytes, 0, buffer, JAVA_BYTE, 0, bytes.length);
            long written = (long) write.invokeExact(master, buffer, (long) bytes.length);
            require(written == bytes.length);
            await(bytes.length);
        } catch (Throwable failure) {
            throw new IllegalStateException("typing", failure);
        }
    }

    /// Waits for `count` bytes.
    void await(long count) {
        try {
            for (long left = count; left > 0; ) {
                long got = (long) read.invokeExact(master, buffer, (long) BUFFER);
                require(got > 0);
                left -= got;
            }
        } catch (Throwable failure) {
            throw new IllegalStateException("reading from the terminal", failure);
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
        try {
            int _ = (int) function("close", JAVA_INT, JAVA_INT).invokeExact(master);
        } catch (Throwable failure) {
            throw new IllegalStateException("closing a terminal", failure);
        }
        arena.close();
    }

    private static void check(int result) {
        require(result == 0);
    }

    private static void require(boolean holds) {
        if (!holds) {
            throw new IllegalStateException("the terminal failed");
        }
    }
}
