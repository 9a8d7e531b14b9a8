package dev.vivarium.core.watch;

import dev.vivarium.core.files.FileChange;
import dev.vivarium.core.files.Watch;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Watcher of the files of one sandbox. Thread-safe.
///
/// It runs until the sandbox ends, through pauses, lost connections and restored snapshots. Each time it opens a watch,
/// it surveys the whole workspace and publishes the differences from the index.
///
/// If the kernel has no watch left, it polls with surveys instead, more often while the sandbox is in use.
final class Watcher implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(Watcher.class);

    /// Delay before the first survey. Creating a sandbox does not wait for it, and a short-lived sandbox never pays
    /// for it.
    private static final Duration HEAD_START = Duration.ofMillis(100);

    private static final Duration INTERVAL = Duration.ofMillis(100);
    private static final Duration BURST_INTERVAL = Duration.ofSeconds(1);
    private static final Duration QUIET = Duration.ofMillis(250);
    private static final Duration FOREVER = Duration.ofDays(1);

    /// Number of changes in one interval at which a burst ends.
    private static final int BURST_END = 5;

    /// Maximum number of changes read in one interval. The rest waits in the guest; if its queue overflows, the
    /// guest drops changes.
    private static final int MOST = 20_000;

    private static final Duration REOPEN = Duration.ofSeconds(5);
    private static final Duration POLL_IN_USE = Duration.ofSeconds(2);
    private static final Duration POLL_IDLE = Duration.ofSeconds(30);
    private static final int POLLS = 30;

    private final Sandbox sandbox;
    private final FileIndex fileIndex;
    private final Semaphore surveys;
    private final Semaphore wakeUps = new Semaphore(0);
    private volatile boolean closed;

    /// Number of surveys before the next attempt to open a watch.
    private int polls;

    /// Whether the last attempt to open a watch found too many directories.
    private boolean degraded;

    private Instant lastUse = Instant.MIN;

    /// @param surveys limits the number of concurrent surveys
    Watcher(Sandbox sandbox, FileIndex fileIndex, Semaphore surveys) {
        this.sandbox = sandbox;
        this.fileIndex = fileIndex;
        this.surveys = surveys;
    }

    /// Ends the current wait: the sandbox may be reachable again.
    void wake() {
        wakeUps.release();
    }

    /// Stops the watcher soon. Idempotent.
    void close() {
        closed = true;
        wake();
    }

    @Override
    public void run() {
        try {
            pause(HEAD_START);
            while (!closed) {
                pause(observe());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /// Watches as long as possible. Returns the delay before the next attempt.
    private Duration observe() throws InterruptedException {
        try {
            return polls > 0 ? poll() : watch();
        } catch (SandboxException e) {
            return delayAfter(e.failure());
        } catch (RuntimeException e) {
            LOG.error("the files of {} are not watched at the moment", sandbox.id(), e);
            return REOPEN;
        }
    }

    private Duration watch() throws InterruptedException {
        try (Watch watch = sandbox.passiveFiles().watch("")) {
            degraded = false;
            survey();
            follow(watch);
            // The burst is over and changes were lost, so the watch opens again with a survey.
            return Duration.ZERO;
        }
    }

    /// Polls once, in place of a watch.
    private Duration poll() throws InterruptedException {
        polls--;
        Instant used = sandbox.info().lastActivity();
        boolean isInUse = used.isAfter(lastUse);
        lastUse = used;
        survey();
        return isInUse ? POLL_IN_USE : POLL_IDLE;
    }

    private Duration delayAfter(Failure failure) {
        return switch (failure) {
            case Failure.SandboxEnded _, Failure.NoSuchSandbox _, Failure.ShuttingDown _ -> {
                closed = true;
                yield Duration.ZERO;
            }
            case Failure.SandboxNotRunning _ -> FOREVER;
            case Failure.GuestUnreachable _ -> Duration.ofSeconds(1);
            case Failure.TooManyCommands _ -> {
                degrade();
                yield Duration.ZERO;
            }
            case Failure other -> {
                LOG.warn("the files of {} are not watched at the moment: {}", sandbox.id(), other.sentence());
                yield REOPEN;
            }
        };
    }

    /// Polls instead of watching, and publishes that once.
    private void degrade() {
        polls = POLLS;
        if (!degraded) {
            LOG.warn("no inotify watch is left for the files of {}; the server polls them instead", sandbox.id());
            fileIndex.publishDegraded(POLL_IN_USE);
            degraded = true;
        }
    }

    private void survey() throws InterruptedException {
        surveys.acquire();
        try {
            fileIndex.survey(sandbox.passiveFiles());
        } finally {
            surveys.release();
        }
    }

    /// Publishes the changes of the watch until changes were lost and the watch must be opened again.
    private void follow(Watch watch) throws InterruptedException {
        boolean burst = false;
        boolean lost = false;
        while (!closed) {
            Optional<FileChange> first = next(watch, burst);
            ChangeCoalescer fold = first.isPresent()
                    ? gather(watch, first.get(), burst ? BURST_INTERVAL : INTERVAL)
                    : new ChangeCoalescer();
            lost |= fold.isIncomplete();
            if (burst && fold.size() <= BURST_END) {
                if (lost) {
                    return;
                }
                survey();
                burst = false;
            }
            if (first.isEmpty()) {
                fileIndex.settle(sandbox.passiveFiles());
            } else {
                burst = !publish(fold, burst);
            }
        }
    }

    private Optional<FileChange> next(Watch watch, boolean burst) {
        return burst || fileIndex.isUnsettled() ? watch.next(QUIET) : Optional.of(watch.next());
    }

    /// Publishes the changes of one interval. Reports whether each change has an event of its own.
    private boolean publish(ChangeCoalescer fold, boolean burst) {
        List<FileChange> net = fold.net();
        if (!burst
                && !fold.isIncomplete()
                && fileIndex.publish(sandbox.passiveFiles(), fileIndex.withKnown(net, fold.transientPaths()))) {
            return true;
        }
        fileIndex.publishFolded(net, fold.isIncomplete());
        return false;
    }

    private ChangeCoalescer gather(Watch watch, FileChange first, Duration beat) throws InterruptedException {
        var fold = new ChangeCoalescer();
        fold.add(first);
        long end = System.nanoTime() + beat.toNanos();
        for (int taken = 1; taken < MOST; taken++) {
            Optional<FileChange> more = watch.next(Duration.ofNanos(Math.max(0, end - System.nanoTime())));
            if (more.isEmpty()) {
                return fold;
            }
            fold.add(more.get());
        }
        pause(Duration.ofNanos(Math.max(0, end - System.nanoTime())));
        return fold;
    }

    private void pause(Duration longest) throws InterruptedException {
        if (wakeUps.tryAcquire(longest.toNanos(), TimeUnit.NANOSECONDS)) {
            wakeUps.drainPermits();
        }
    }
}
