package dev.vivarium.core;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.DelayQueue;
import java.util.concurrent.Delayed;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Clock and timer of a server. Thread-safe.
///
/// One thread keeps the time. Repeated work runs on pooled platform threads, so that it also runs while every carrier
/// of virtual threads is busy. Jobs that run once can be many, so they run on virtual threads. If a job fails, the
/// scheduler logs the failure and continues to repeat the job.
public final class Scheduler implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Scheduler.class);

    /// Maximum wait of the timer thread. If the clock jumps, for example because the host was suspended, jobs are
    /// late by at most this time.
    private static final Duration STEP = Duration.ofMillis(500);

    /// Maximum wait for running jobs of a closed group.
    private static final Duration TIMEOUT = Duration.ofSeconds(15);

    private final InstantSource clock;
    private final LongSupplier nanos;
    private final DelayQueue<Job> queue = new DelayQueue<>();
    private final Thread timer = CriticalThread.unstarted("scheduler", this::run);
    private final AtomicBoolean started = new AtomicBoolean();
    private final ExecutorService repeated = Executors.newCachedThreadPool(
            Thread.ofPlatform().daemon().name("scheduled-", 1).factory());
    private final ExecutorService single = Executors.newThreadPerTaskExecutor(
            Thread.ofVirtual().name("delayed-", 1).factory());
    private volatile boolean closed;

    public Scheduler(InstantSource clock) {
        this(clock, System::nanoTime);
    }

    /// @param nanos elapsed time; only differences count
    public Scheduler(InstantSource clock, LongSupplier nanos) {
        this.clock = clock;
        this.nanos = nanos;
    }

    public InstantSource clock() {
        return clock;
    }

    public long nanos() {
        return nanos.getAsLong();
    }

    /// Returns an empty group of jobs that end together.
    public Jobs jobs() {
        if (started.compareAndSet(false, true)) {
            timer.start();
        }
        return new Jobs();
    }

    private void run() {
        while (!closed) {
            try {
                Job due = queue.poll(STEP.toMillis(), TimeUnit.MILLISECONDS);
                if (due != null) {
                    (due.every.isPresent() ? repeated : single).execute(due::run);
                }
            } catch (InterruptedException | RejectedExecutionException e) {
                LOG.debug("the scheduler is closing");
            }
        }
    }

    /// Ends the timer thread. Close all groups of jobs first.
    @Override
    public void close() {
        closed = true;
        timer.interrupt();
        repeated.shutdown();
        single.shutdown();
    }

    /// Jobs of one owner. Thread-safe.
    public final class Jobs implements AutoCloseable {
        @GuardedBy("this")
        private boolean ended;

        @GuardedBy("this")
        private int running;

        private Jobs() {}

        /// Repeats work with this pause between two runs. The first run follows after one pause.
        public Jobs every(Duration pause, String name, Runnable work) {
            return every(pause, pause, name, work);
        }

        /// Like [#every(Duration, String, Runnable)], with `first` as the delay before the first run.
        public Jobs every(Duration first, Duration pause, String name, Runnable work) {
            queue.add(new Job(this, name, work, Optional.of(pause), first));
            return this;
        }

        /// Runs work once, unless the group is closed first.
        public void once(Duration delay, String name, Runnable work) {
            if (!isEnded()) {
                queue.add(new Job(this, name, work, Optional.empty(), delay));
            }
        }

        private synchronized boolean isEnded() {
            return ended;
        }

        private synchronized boolean tryBegin() {
            running += ended ? 0 : 1;
            return !ended;
        }

        private synchronized void finished() {
            running--;
            notifyAll();
        }

        /// Cancels the jobs and waits, with a timeout, for the running ones. A job must not close its own
        /// group. Idempotent.
        @Override
        public synchronized void close() {
            ended = true;
            queue.removeIf(job -> job.group == this);
            long deadline = System.nanoTime() + TIMEOUT.toNanos();
            try {
                while (running > 0 && System.nanoTime() - deadline < 0) {
                    TimeUnit.NANOSECONDS.timedWait(this, deadline - System.nanoTime());
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private final class Job implements Delayed {
        private final Jobs group;
        private final String name;
        private final Runnable work;
        private final Optional<Duration> every;
        private volatile long due;

        Job(Jobs group, String name, Runnable work, Optional<Duration> every, Duration delay) {
            this.group = group;
            this.name = name;
            this.work = work;
            this.every = every;
            this.due = nanos() + delay.toNanos();
        }

        private void run() {
            if (!group.tryBegin()) {
                return;
            }
            try {
                work.run();
            } catch (RuntimeException e) {
                LOG.error("{} failed", name, e);
            } catch (Error e) {
                CriticalThread.report(e);
            } finally {
                group.finished();
            }
            every.filter(_ -> !group.isEnded()).ifPresent(pause -> {
                due = nanos() + pause.toNanos();
                queue.add(this);
            });
        }

        @Override
        public long getDelay(TimeUnit unit) {
            return unit.convert(due - nanos(), TimeUnit.NANOSECONDS);
        }

        @Override
        public int compareTo(Delayed other) {
            return Long.signum(due - ((Job) other).due);
        }
    }
}
