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

/// Watches the files of one sandbox for as long as it lives: through pauses, lost streams and restored snapshots. Each
/// time the watch stands anew it looks at everything once, and tells what differs from what is known.
///
/// Where the kernel has no watch left to give, it looks again and again instead, often while the sandbox is in use.
/// Thread-safe.
final class Watcher implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(Watcher.class);

    /// Nobody who is given a sandbox waits for this; and who has it for a moment only does not pay for it.
    private static final Duration HEAD_START = Duration.ofMillis(100);

    private static final Duration BEAT = Duration.ofMillis(100);
    private static final Duration STORM_BEAT = Duration.ofSeconds(1);
    private static final Duration CALM = Duration.ofMillis(250);
    private static final Duration FOREVER = Duration.ofDays(1);

    /// In a storm, a beat with so few changes is the end of it.
    private static final int BREEZE = 5;

    /// As many changes are taken in a second; the rest waits in the guest, and is lost there if there is too much.
    private static final int MOST = 20_000;

    private static final Duration REOPEN = Duration.ofSeconds(5);
    private static final Duration LOOK_IN_USE = Duration.ofSeconds(2);
    private static final Duration LOOK_IDLE = Duration.ofSeconds(30);
    private static final int LOOKS = 30;

    private final Sandbox sandbox;
    private final FileIndex fileIndex;
    private final Semaphore surveys;
    private final Semaphore nudges = new Semaphore(0);
    private volatile boolean closed;

    /// How often to look before the next attempt to watch.
    private int looks;

    private Instant lastUse = Instant.MIN;

    /// @param surveys how many may look at everything at once
    Watcher(Sandbox sandbox, FileIndex fileIndex, Semaphore surveys) {
        this.sandbox = sandbox;
        this.fileIndex = fileIndex;
        this.surveys = surveys;
    }

    /// Something happened to the sandbox: it may be there again.
    void nudge() {
        nudges.release();
    }

    /// Ends it soon. Idempotent.
    void close() {
        closed = true;
        nudge();
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

    /// Watches for as long as that is possible. Returns how long to wait before the next attempt.
    private Duration observe() throws InterruptedException {
        try {
            return looks > 0 ? look() : watch();
        } catch (SandboxException e) {
            return afterwards(e.failure());
        } catch (RuntimeException e) {
            LOG.error("the files of {} are not watched at the moment", sandbox.id(), e);
            return REOPEN;
        }
    }

    private Duration watch() throws InterruptedException {
        try (Watch watch = sandbox.look().watch("")) {
            survey();
            follow(watch);
            // It is quiet again, and nobody knows what was lost.
            return Duration.ZERO;
        }
    }

    /// What is left to do without a watch.
    private Duration look() throws InterruptedException {
        looks--;
        Instant used = sandbox.info().lastActivity();
        boolean isInUse = used.isAfter(lastUse);
        lastUse = used;
        survey();
        return isInUse ? LOOK_IN_USE : LOOK_IDLE;
    }

    private Duration afterwards(Failure failure) {
        return switch (failure) {
            case Failure.SandboxEnded _, Failure.NoSuchSandbox _, Failure.ShuttingDown _ -> {
                closed = true;
                yield Duration.ZERO;
            }
            case Failure.SandboxNotRunning _ -> FOREVER;
            case Failure.GuestUnreachable _ -> Duration.ofSeconds(1);
            case Failure.TooManyCommands _ -> {
                LOG.warn("there is no watch left for the files of {}; it is looked at now and then", sandbox.id());
                looks = LOOKS;
                yield Duration.ZERO;
            }
            case Failure other -> {
                LOG.warn("the files of {} are not watched at the moment: {}", sandbox.id(), other.sentence());
                yield REOPEN;
            }
        };
    }

    private void survey() throws InterruptedException {
        surveys.acquire();
        try {
            fileIndex.survey(sandbox.look());
        } finally {
            surveys.release();
        }
    }

    /// Tells what the watch says, until changes were lost and it has to be opened anew.
    private void follow(Watch watch) throws InterruptedException {
        boolean storm = false;
        boolean lost = false;
        while (!closed) {
            Optional<FileChange> first = next(watch, storm);
            ChangeCoalescer fold =
                    first.isPresent() ? gather(watch, first.get(), storm ? STORM_BEAT : BEAT) : new ChangeCoalescer();
            lost |= fold.isIncomplete();
            if (storm && fold.size() <= BREEZE) {
                if (lost) {
                    return;
                }
                survey();
                storm = false;
            }
            if (first.isEmpty()) {
                fileIndex.settle(sandbox.look());
            } else {
                storm = !tell(fold, storm);
            }
        }
    }

    private Optional<FileChange> next(Watch watch, boolean storm) {
        return storm || fileIndex.isUnsettled() ? watch.next(CALM) : Optional.of(watch.next());
    }

    /// Tells of one beat. Reports whether that was possible one by one.
    private boolean tell(ChangeCoalescer fold, boolean storm) {
        List<FileChange> net = fold.net();
        if (!storm
                && !fold.isIncomplete()
                && fileIndex.tell(sandbox.look(), fileIndex.withKnown(net, fold.passing()))) {
            return true;
        }
        fileIndex.tellFolded(net, fold.isIncomplete());
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
        if (nudges.tryAcquire(longest.toNanos(), TimeUnit.NANOSECONDS)) {
            nudges.drainPermits();
        }
    }
}
