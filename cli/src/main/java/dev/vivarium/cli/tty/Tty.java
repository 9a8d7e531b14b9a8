package dev.vivarium.cli.tty;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/// Terminal of this process in raw mode: no echo, no line editing. Closing it, or the exit of the process except by
/// SIGKILL, restores the settings. Thread-safe.
@SuppressWarnings("restricted") // The C library is called, which is the point.
public final class Tty implements AutoCloseable {
    private static final int INPUT = 0;
    private static final int AFTER_OUTPUT = 1;
    private static final boolean MAC = System.getProperty("os.name", "").startsWith("Mac");
    private static final long GET_WINDOW_SIZE = MAC ? 0x40087468L : 0x5413L;
    /// Larger than `struct termios` of any system.
    private static final int TERMIOS_BYTES = 256;

    /// Resets modes that a killed program may have left: alternate screen, hidden cursor, bracketed paste, mouse,
    /// key codes.
    private static final String PLAIN =
            "\u001b[?1049l\u001b[?25h\u001b[?2004l\u001b[?1000;1002;1003;1006l\u001b>\u001b[0m";

    private static final Linker LINKER = Linker.nativeLinker();
    private static final MethodHandle GET = function("tcgetattr", ValueLayout.JAVA_INT, ValueLayout.ADDRESS);
    private static final MethodHandle SET =
            function("tcsetattr", ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.ADDRESS);
    private static final MethodHandle IOCTL = LINKER.downcallHandle(
            LINKER.defaultLookup().findOrThrow("ioctl"),
            FunctionDescriptor.of(
                    ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.ADDRESS),
            Linker.Option.firstVariadicArg(2));
    private static final MethodHandle RAW = LINKER.downcallHandle(
            LINKER.defaultLookup().findOrThrow("cfmakeraw"), FunctionDescriptor.ofVoid(ValueLayout.ADDRESS));

    private final Arena arena = Arena.ofShared();
    private final MemorySegment saved;
    private final AtomicBoolean restored = new AtomicBoolean();
    private final Thread hook = new Thread(this::restore, "viv-restore-terminal");

    private Tty(MemorySegment saved) {
        this.saved = arena.allocate(TERMIOS_BYTES).copyFrom(saved);
    }

    /// Size of the window in characters.
    public record Size(int columns, int rows) {}

    /// Enters raw mode if standard input is a terminal.
    public static Optional<Tty> open() {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment attributes = scratch.allocate(TERMIOS_BYTES);
            if ((int) GET.invokeExact(INPUT, attributes) != 0) {
                return Optional.empty();
            }
            var tty = new Tty(attributes);
            Runtime.getRuntime().addShutdownHook(tty.hook);
            RAW.invokeExact(attributes);
            if ((int) SET.invokeExact(INPUT, AFTER_OUTPUT, attributes) != 0) {
                tty.close();
                return Optional.empty();
            }
            return Optional.of(tty);
        } catch (Throwable e) {
            throw new IllegalStateException("the terminal's attributes", e);
        }
    }

    /// Returns the current size, or nothing if it is unknown.
    public Optional<Size> size() {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment window = scratch.allocate(4 * ValueLayout.JAVA_SHORT.byteSize());
            int failed = (int) IOCTL.invokeExact(INPUT, GET_WINDOW_SIZE, window);
            int rows = Short.toUnsignedInt(window.get(ValueLayout.JAVA_SHORT, 0));
            int columns = Short.toUnsignedInt(window.get(ValueLayout.JAVA_SHORT, 2));
            return failed != 0 || rows == 0 || columns == 0 ? Optional.empty() : Optional.of(new Size(columns, rows));
        } catch (Throwable e) {
            throw new IllegalStateException("the terminal's size", e);
        }
    }

    /// The arena stays open, because the shutdown hook may read from it.
    private void restore() {
        if (!restored.compareAndSet(false, true)) {
            return;
        }
        try {
            new FileOutputStream(FileDescriptor.out).write(PLAIN.getBytes(StandardCharsets.US_ASCII));
        } catch (IOException _) {
            // The terminal is closed. The attributes are still restored.
        }
        try {
            int _ = (int) SET.invokeExact(INPUT, AFTER_OUTPUT, saved);
        } catch (Throwable e) {
            throw new IllegalStateException("the terminal's attributes", e);
        }
    }

    /// Restores the terminal. Idempotent.
    @Override
    public void close() {
        restore();
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException _) {
            // The process is exiting, and the hook has nothing to do.
        }
    }

    /// Returns a function of the C library with an `int` result.
    private static MethodHandle function(String name, MemoryLayout... arguments) {
        return LINKER.downcallHandle(
                LINKER.defaultLookup().findOrThrow(name), FunctionDescriptor.of(ValueLayout.JAVA_INT, arguments));
    }
}
