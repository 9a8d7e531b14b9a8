package dev.vivarium.core;

import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// Work that a loop on a virtual thread may do before it needs a permit. Each loop over bytes or events has one,
/// because such a loop may never block: the other side may always have the next piece ready. Confined to the loop's
/// thread.
///
/// # Design note
///
/// The scheduler does not preempt virtual threads: a loop that never blocks keeps its carrier, and as many such loops
/// as there are carriers stop every other virtual thread. `Thread.yield()` does not help. The scheduler puts a thread
/// that yields into a queue which its carrier empties before it looks at any other queue, so that threads in other
/// queues never run (measured with two loops on two carriers).
///
/// Loops that block often are a second danger. Sixty callers that each read a large answer slowly keep sixty loops
/// runnable, and every other thread waits behind all of them.
///
/// Therefore a loop is free up to [#FREE_BYTES], and from then on at [#FREE_BYTES_PER_SECOND]. Beyond that it needs one
/// of a few permits ([CarrierPermits]), fewer than there are carriers, for each slice. Blocking returns the permit and
/// earns nothing, time does. Terminals, event streams and short answers stay below the free rate and never need a
/// permit. A single busy loop gets one at once and loses no throughput.
public final class LoopBudget {
    /// How much a loop may move with one permit.
    private static final int SLICE_BYTES = 256 * 1024;

    /// How much a loop may move at once without a permit.
    private static final int FREE_BYTES = 64 * 1024;

    private static final int FREE_BYTES_PER_SECOND = 256 * 1024;

    /// Fixed cost of a step, in bytes that could be copied in that time.
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

    /// Counts a step of the loop. Waits if the loop must give way.
    public void spend(int bytes) {
        left -= bytes + STEP_COST;
        if (left <= 0) {
            renew();
        }
    }

    /// To be called before the loop blocks, or may do so: other loops can have its permit.
    public void blocks() {
        if (permit != null) {
            permit.release();
            permit = null;
            left = 0;
        }
    }

    /// Reports whether the loop holds a permit.
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
