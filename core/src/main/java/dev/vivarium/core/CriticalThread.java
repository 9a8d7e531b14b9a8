package dev.vivarium.core;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Platform thread that the process cannot work without, such as the guest loop. Thread-safe.
///
/// The loop returns when its owner closes it. If the loop throws, the thread logs the exception and runs the loop
/// again; the state of a loop is in its object and not on the stack. After more than [#MAX_RESTARTS] failures within
/// [#WINDOW], the thread ends with a [Failed]. An [Error] is first passed to the uncaught exception handler. The server
/// installs a handler that exits on both, because sandboxes outlive the server and a restart repairs it.
public final class CriticalThread {
    /// Error after the end of a critical thread. The process cannot continue.
    public static final class Failed extends Error {
        private static final long serialVersionUID = 1L;

        Failed(String thread, Throwable cause) {
            super("the critical thread " + thread + " has ended: " + cause, cause);
        }
    }

    static final int MAX_RESTARTS = 3;
    static final Duration WINDOW = Duration.ofMinutes(1);

    private static final Logger LOG = LoggerFactory.getLogger(CriticalThread.class);
    private static final Duration PAUSE = Duration.ofMillis(100);

    /// Threads of this process that have ended by a failure.
    private static final Set<String> ENDED = ConcurrentHashMap.newKeySet();

    private final String name;
    private final Runnable loop;
    private int restarts;
    private long windowStart = System.nanoTime();

    private CriticalThread(String name, Runnable loop) {
        this.name = name;
        this.loop = loop;
    }

    /// Creates a daemon thread that runs `loop`, which must be restartable after an exception.
    public static Thread unstarted(String name, Runnable loop) {
        return Thread.ofPlatform().daemon().name(name).unstarted(new CriticalThread(name, loop)::run);
    }

    /// Creates and starts a daemon thread that runs `loop`.
    public static Thread start(String name, Runnable loop) {
        Thread thread = unstarted(name, loop);
        thread.start();
        return thread;
    }

    /// Passes an error to the uncaught exception handler of this thread, which may end the process. For code that
    /// catches errors, or whose caller discards them.
    public static void report(Error error) {
        Thread thread = Thread.currentThread();
        thread.getUncaughtExceptionHandler().uncaughtException(thread, error);
    }

    /// Names of the critical threads that have ended by a failure, sorted; empty if the process works.
    public static List<String> ended() {
        return ENDED.stream().sorted().toList();
    }

    private void run() {
        while (true) {
            try {
                loop.run();
                return;
            } catch (RuntimeException e) {
                restart(e);
            } catch (Error e) {
                report(e);
                restart(e);
            }
        }
    }

    private void restart(Throwable cause) {
        long now = System.nanoTime();
        if (now - windowStart > WINDOW.toNanos()) {
            windowStart = now;
            restarts = 0;
        }
        if (++restarts > MAX_RESTARTS) {
            ENDED.add(name);
            throw new Failed(name, cause);
        }
        LOG.error("the thread {} failed and starts again", name, cause);
        LockSupport.parkNanos(PAUSE.toNanos());
    }
}
