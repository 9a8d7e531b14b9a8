package dev.vivarium.core.provider.oci;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/// Counter of the OOM kills of one cgroup. The server reads it before and after each command, so it keeps the control
/// file open: opening it takes many times as long as reading it. Thread-safe.
final class OomCounter implements AutoCloseable {
    private final Path file;

    @GuardedBy("this")
    private final ByteBuffer content = ByteBuffer.allocate(512);

    /// Null before the first read.
    @GuardedBy("this")
    private @Nullable FileChannel channel;

    @GuardedBy("this")
    private boolean closed;

    @GuardedBy("this")
    private long last;

    /// @param file control file with a line `oom_kill` and the count
    OomCounter(Path file) {
        this.file = file;
    }

    /// Returns the count, or the last known count if the group is gone.
    synchronized long read() {
        if (closed) {
            return last;
        }
        try {
            content.clear();
            open().read(content, 0);
            last = ControlFiles.field(
                    new String(content.array(), 0, content.position(), StandardCharsets.US_ASCII), "oom_kill");
        } catch (IOException e) {
            // The group is gone, or this thread is interrupted, which closes the channel. The next read opens it again.
        }
        return last;
    }

    @GuardedBy("this")
    private FileChannel open() throws IOException {
        FileChannel known = channel;
        if (known == null || !known.isOpen()) {
            known = FileChannel.open(file, StandardOpenOption.READ);
            channel = known;
        }
        return known;
    }

    @Override
    public synchronized void close() {
        closed = true;
        if (channel != null) {
            try {
                channel.close();
            } catch (IOException e) {
                // Nothing was written.
            }
        }
    }
}
