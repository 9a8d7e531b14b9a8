package dev.vivarium.core.provider.oci;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/// `statx(2)`, for the allocated size of a sparse file, which Java does not provide. It opens no file, because closing
/// the file would release the POSIX locks of this process on it. Stateless.
final class AllocatedBytes {
    private static final int AT_FDCWD = -100;
    private static final int AT_SYMLINK_NOFOLLOW = 0x100;
    private static final int STATX_BLOCKS = 0x400;
    private static final int STRUCT_BYTES = 256;
    private static final long BLOCKS_OFFSET = 48;
    private static final long BLOCK_BYTES = 512;

    private static final MethodHandle STATX = statx();

    private AllocatedBytes() {}

    /// Allocated bytes of the file; zero if the file is gone.
    static long of(Path file) {
        try (var arena = Arena.ofConfined()) {
            var result = arena.allocate(STRUCT_BYTES, Long.BYTES);
            int status = (int) STATX.invokeExact(
                    AT_FDCWD, arena.allocateFrom(file.toString()), AT_SYMLINK_NOFOLLOW, STATX_BLOCKS, result);
            return status == 0 ? result.get(ValueLayout.JAVA_LONG, BLOCKS_OFFSET) * BLOCK_BYTES : 0;
        } catch (Throwable e) {
            throw new AssertionError("statx(2) takes a directory, a path, flags, a mask and a buffer", e);
        }
    }

    private static MethodHandle statx() {
        var linker = Linker.nativeLinker();
        var shape = FunctionDescriptor.of(
                ValueLayout.JAVA_INT,
                ValueLayout.JAVA_INT,
                ValueLayout.ADDRESS,
                ValueLayout.JAVA_INT,
                ValueLayout.JAVA_INT,
                ValueLayout.ADDRESS);
        return linker.downcallHandle(linker.defaultLookup().findOrThrow("statx"), shape);
    }
}
