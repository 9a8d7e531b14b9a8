package dev.vivarium.core;

import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// Amount of work that a loop on a virtual thread may do before it needs a permit. Confined to the thread of the loop.
///
/// Each loop over bytes or events has a budget, because such a loop may never block: the other side may always have the
/// next piece ready.
///
/// # Design note
///
/// The scheduler does not preempt virtual threads. A loop that never blocks keeps its carrier, and as many such loops
/// as there are carriers stop every other virtual thread. `Thread.yield()` does not help: the scheduler puts a yielding
/// thread into a queue that its carrier empties before any other queue. Threads in other queues then never run
/// (measured with two loops on two carriers).
///
/// Loops that block often are a second danger. Sixty callers that each read a large response slowly keep sixty loops
/// runnable, and every other thread waits behind all of them.
///
/// Therefore, a loop is free up to [#FREE_BYTES], and from then on at [#FREE_BYTES_PER_SECOND]. Beyond that, it needs
/// one of a few permits ([CarrierPermits]), fewer than there are carriers, for each slice. Blocking releases the
/// permit. Only elapsed time restores the free bytes. Terminals, event streams and short responses stay below the free
/// rate and never need a permit. A single busy loop gets a permit at once and loses no throughput.
public final class LoopBudget {
    /// Maximum number of bytes that a loop moves with one permit.
    private static final int SLICE_BYTES = 256 * 1024;

    /// Maximum number of bytes that a loop moves at once without a permit.
    private static final int FREE_BYTES = 64 * 1024;

    private static final int FREE_BYTES_PER_SECOND = 256 * 1024;

    /// Fixed cost of a step, in bytes that can be copied in the same time.
    private static final int STEP_COST = 512;

    private static final double NANOS_PER_SECOND = 1e9;

    private final CarrierPermits permits;
    private final LongSupplier nanoTime;
    private int left = FREE_BYTES;
    private long refilledAt;
    private CarrierPermits.@Nullable Permit permit;

    public LoopBudget() {
        this(CarrierPermits.SHARED, System::nanoTime);
    }

    LoopBudget(CarrierPermits permits, LongSupplier nanoTime) {
        this.permits = permits;
        this.nanoTime = nanoTime;
        this.refilledAt = nanoTime.getAsLong();
    }

    /// Counts a step of the loop. Blocks if the loop needs a permit.
    public void spend(int bytes) {
        left -= bytes + STEP_COST;
        if (left <= 0) {
            renew();
        }
    }

    /// Releases the permit. Call it before an operation that can block.
    public void blocks() {
        if (permit != null) {
            permit.release();
            permits.releaseCurrent();
            permit = null;
            left = 0;
        }
    }

    boolean hasPermit() {
        return permit != null;
    }

    private void renew() {
        blocks();
        refill();
        if (left <= 0 && Thread.currentThread().isVirtual()) {
            permit = permits.acquire();
            left = SLICE_BYTES;
        }
    }

    private void refill() {
        long now = nanoTime.getAsLong();
        double earned = (now - refilledAt) / NANOS_PER_SECOND * FREE_BYTES_PER_SECOND;
        refilledAt = now;
        left = (int) Math.min(FREE_BYTES, left + earned);
    }
}
