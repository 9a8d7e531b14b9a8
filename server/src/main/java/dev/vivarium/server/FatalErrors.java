package dev.vivarium.server;

import dev.vivarium.core.CriticalThread;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.lang.Thread.UncaughtExceptionHandler;
import java.nio.charset.StandardCharsets;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Uncaught exception handler of the server. It exits if the process cannot continue, and logs every other exception.
/// Thread-safe.
///
/// After an `OutOfMemoryError`, any object may be in an inconsistent state. An exit is safe, because sandboxes are
/// separate processes: the next server recovers them with their files and processes. The JVM's own
/// `-XX:+ExitOnOutOfMemoryError` does not cover errors that Java code throws, such as those for direct buffers.
public final class FatalErrors implements UncaughtExceptionHandler {
    /// Exit status of a server that ran out of memory; the JVM's own flag uses the same.
    static final int OUT_OF_MEMORY = 3;

    /// Exit status of a server that lost a critical thread.
    static final int THREAD_ENDED = 4;

    private static final Logger LOG = LoggerFactory.getLogger(FatalErrors.class);

    /// Allocated in advance, because there may be no memory for it later.
    private final byte[] outOfMemory = ("viv: out of memory; the server exits with status " + OUT_OF_MEMORY
                    + ". Sandboxes go on, and the next start finds them. Set a larger -Xmx in VIV_JAVA_OPTS. Reason: ")
            .getBytes(StandardCharsets.UTF_8);

    private final FileOutputStream standardError = new FileOutputStream(FileDescriptor.err);

    private FatalErrors() {}

    /// Installs this handler for all threads of the process.
    public static void install() {
        Thread.setDefaultUncaughtExceptionHandler(new FatalErrors());
    }

    @Override
    public void uncaughtException(Thread thread, Throwable thrown) {
        switch (thrown) {
            case OutOfMemoryError error -> exit(OUT_OF_MEMORY, outOfMemory, error);
            case InternalError error -> exit(THREAD_ENDED, new byte[0], error);
            case CriticalThread.Failed error -> exit(THREAD_ENDED, new byte[0], error);
            default -> LOG.error("the thread {} ended by a failure", thread.getName(), thrown);
        }
    }

    private void exit(int status, byte[] prefix, Throwable reason) {
        try {
            standardError.write(prefix);
            standardError.write((reason + "\n").getBytes(StandardCharsets.UTF_8));
        } catch (IOException | OutOfMemoryError e) {
            // The exit status still reports the error.
        } finally {
            Runtime.getRuntime().halt(status);
        }
    }
}
