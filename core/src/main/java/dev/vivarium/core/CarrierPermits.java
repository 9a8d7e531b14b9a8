package dev.vivarium.core;

import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/// Permits for loops that keep a carrier of the virtual threads busy. There is one permit fewer than there are
/// carriers, so that one carrier always serves other virtual threads. Waiting loops get permits in the order of their
/// arrival. Thread-safe.
///
/// A permit is a lease. If its holder blocks without returning it, the holder needs no carrier, and another loop gets
/// the permit at the end of the lease. A platform thread ends such leases, because it runs even when all carriers are
/// busy. A thread has one permit, although it may use several budgets: otherwise, a loop would wait for itself.
final class CarrierPermits {
    /// The permits of this process: its virtual threads share one scheduler.
    static final CarrierPermits SHARED = new CarrierPermits(carriers(), Duration.ofMillis(5));

    /// With a single carrier, a holder pauses for this time before it continues.
    private static final Duration PAUSE = Duration.ofMillis(1);

    private final boolean isSingle;
    private final Duration lease;
    private final Semaphore free;
    private final AtomicInteger waiting = new AtomicInteger();
    private final Queue<Permit> held = new ConcurrentLinkedQueue<>();
    private final ThreadLocal<Permit> current = new ThreadLocal<>();
    private final Thread leases;

    /// @param lease time after which a waiting loop gets the permit of a blocked holder
    CarrierPermits(int carriers, Duration lease) {
        this.isSingle = carriers == 1;
        this.lease = lease;
        this.free = new Semaphore(Math.max(1, carriers - 1), true);
        this.leases = Thread.ofPlatform().name("carrier-permits").daemon().unstarted(this::endLeases);
        leases.start();
    }

    /// The right to keep a carrier busy. Thread-safe.
    final class Permit {
        private final long since = System.nanoTime();
        private final AtomicBoolean ended = new AtomicBoolean();

        /// Returns the permit. Idempotent.
        void release() {
            if (ended.compareAndSet(false, true)) {
                held.remove(this);
                free.release();
            }
        }
    }

    /// Releases the permit of the current thread, if it has one, and waits for a new one.
    Permit acquire() {
        releaseCurrent();
        // A free permit must not be taken before loops that already wait.
        if (free.hasQueuedThreads() || !free.tryAcquire()) {
            // Counted before the thread is woken. Otherwise, it finds no waiting loop and misses this one.
            waiting.incrementAndGet();
            LockSupport.unpark(leases);
            free.acquireUninterruptibly();
            waiting.decrementAndGet();
            requeue();
        } else if (isSingle) {
            requeue();
        }
        var permit = new Permit();
        held.add(permit);
        current.set(permit);
        return permit;
    }

    /// Releases the permit of the current thread, if it has one.
    void releaseCurrent() {
        Permit own = current.get();
        if (own != null) {
            own.release();
            current.remove();
        }
    }

    /// Moves the current thread behind the threads that wait for a carrier. A thread that another virtual thread
    /// has woken is in the queue that its carrier empties first: loops that pass a permit around would keep that
    /// carrier. A timer wakes the thread in a queue that it shares with new requests and replies from guests.
    private void requeue() {
        LockSupport.parkNanos(isSingle ? PAUSE.toNanos() : 1);
    }

    private void endLeases() {
        while (true) {
            if (waiting.get() > 0) {
                LockSupport.parkNanos(this, lease.toNanos());
                long now = System.nanoTime();
                held.stream()
                        .filter(permit -> now - permit.since >= lease.toNanos())
                        .forEach(Permit::release);
            } else {
                LockSupport.park(this);
            }
        }
    }

    private static int carriers() {
        int processors = Runtime.getRuntime().availableProcessors();
        return Math.max(1, Integer.getInteger("jdk.virtualThreadScheduler.parallelism", processors));
    }
}
