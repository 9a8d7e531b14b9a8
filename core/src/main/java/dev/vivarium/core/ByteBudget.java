package dev.vivarium.core;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/// Limit on the bytes that the server holds for unfinished work: for all holders together, and a share of that for
/// each. A holder is a caller or a sandbox. Thread-safe.
///
/// Code reserves bytes before it holds them. If they do not fit, [Reservation#add] throws `TooMuchInFlight`. A holder
/// cannot reserve more than its share, so a holder that reads nothing cannot block the others.
public final class ByteBudget {
    private static final long MIB = 1024 * 1024;

    /// Size of one full response, such as a listing of 100,000 files. Minimum of a share, unless the budget is
    /// smaller.
    private static final long SMALLEST_SHARE = 16 * MIB;

    private static final int HOLDERS = 4;
    private static final int PART_OF_HEAP = 4;
    private static final Duration RETRY_AFTER = Duration.ofSeconds(1);

    private final long limit;
    private final long share;
    private final AtomicLong held = new AtomicLong();
    private final AtomicLong refusals = new AtomicLong();
    private final Map<String, Long> heldBy = new ConcurrentHashMap<>();

    public ByteBudget(long limit) {
        this.limit = limit;
        this.share = Math.min(limit, Math.max(limit / HOLDERS, SMALLEST_SHARE));
    }

    /// A quarter of the maximum heap of this JVM.
    public static long quarterOfHeap() {
        return Runtime.getRuntime().maxMemory() / PART_OF_HEAP;
    }

    public long limit() {
        return limit;
    }

    /// Number of reserved bytes.
    public long held() {
        return held.get();
    }

    /// Number of refused reservations since the start.
    public long refusals() {
        return refusals.get();
    }

    /// Empty reservation for `holder`.
    public Reservation open(String holder) {
        return new Reservation(holder);
    }

    private boolean take(String holder, long bytes) {
        if (held.addAndGet(bytes) > limit) {
            held.addAndGet(-bytes);
            return false;
        }
        boolean[] fits = new boolean[1];
        heldBy.compute(holder, (_, before) -> {
            long own = (before == null ? 0 : before) + bytes;
            fits[0] = own <= share;
            return fits[0] ? Long.valueOf(own) : before;
        });
        if (!fits[0]) {
            held.addAndGet(-bytes);
        }
        return fits[0];
    }

    private void release(String holder, long bytes) {
        held.addAndGet(-bytes);
        heldBy.computeIfPresent(holder, (_, before) -> before == bytes ? null : Long.valueOf(before - bytes));
    }

    /// Bytes that one piece of work holds. Thread-safe.
    public final class Reservation implements AutoCloseable {
        private final String holder;
        private long bytes;
        private boolean closed;

        private Reservation(String holder) {
            this.holder = holder;
        }

        /// Reserves more bytes, or throws `TooMuchInFlight`.
        public void add(long more) {
            if (!tryAdd(more)) {
                refusals.incrementAndGet();
                throw new SandboxException(new Failure.TooMuchInFlight(share, RETRY_AFTER));
            }
        }

        /// Reserves more bytes. Returns false if they do not fit.
        public synchronized boolean tryAdd(long more) {
            if (closed || !take(holder, more)) {
                return false;
            }
            bytes += more;
            return true;
        }

        /// Reserves more bytes for an optional optimization, if less than half of the budget is in use. Returns
        /// false if they do not fit.
        public boolean tryAddSpare(long more) {
            return held.get() + more <= limit / 2 && tryAdd(more);
        }

        /// Releases some of the bytes.
        public synchronized void remove(long fewer) {
            long given = Math.min(fewer, bytes);
            if (given > 0) {
                bytes -= given;
                release(holder, given);
            }
        }

        /// Releases all bytes; later reservations fail. Idempotent.
        @Override
        public synchronized void close() {
            remove(bytes);
            closed = true;
        }
    }
}
