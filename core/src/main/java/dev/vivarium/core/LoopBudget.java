package dev.vivarium.core;

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
/// Therefore a loop is free until it has moved one slice of bytes without blocking. For each further slice it needs one
/// of a few permits ([CarrierPermits]), fewer than there are carriers. A loop that blocks now and then never asks for a
/// permit, and a single busy loop gets one at once: neither loses throughput.
public final class LoopBudget {
    /// How much a loop may move without blocking before it needs a permit, and with each permit.
    private static final int SLICE_BYTES = 256 * 1024;

    /// Fixed cost of a step, in bytes that could be copied in that time.
    private static final int STEP_COST = 512;

    /// A call to the operating system that takes longer has blocked.
    private static final long BLOCKED_NANOS = 200_000;

    private int left = SLICE_BYTES;
    private CarrierPermits.@Nullable Permit permit;

    /// Counts a step of the loop. Waits if the loop must give way.
    public void spend(int bytes) {
        left -= bytes + STEP_COST;
        if (left <= 0) {
            renew();
        }
    }

    /// Counts a step that began at `start` on the clock of [System#nanoTime], of which only the time tells whether
    /// it blocked.
    public void spend(int bytes, long start) {
        if (System.nanoTime() - start >= BLOCKED_NANOS) {
            blocks();
        }
        spend(bytes);
    }

    /// Starts a new slice: the loop blocks now, or has just done so, and other threads have the carrier meanwhile.
    public void blocks() {
        left = SLICE_BYTES;
        release();
    }

    private void renew() {
        left = SLICE_BYTES;
        release();
        if (Thread.currentThread().isVirtual()) {
            permit = CarrierPermits.SHARED.acquire();
        }
    }

    private void release() {
        if (permit != null) {
            permit.release();
            permit = null;
        }
    }
}
