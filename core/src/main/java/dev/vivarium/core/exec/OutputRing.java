package dev.vivarium.core.exec;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.vivarium.model.ExecEvent;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/// Ring buffer of the last output of a process, for any number of readers with their own positions. Thread-safe.
///
/// A slow reader loses the oldest part and receives the number of lost bytes. The process never waits for a reader.
final class OutputRing {
    static final int MAX_BYTES = 256 * 1024;

    /// Small pieces cost much more memory than their bytes. Adjacent pieces are therefore joined up to this size,
    /// and the number of pieces is bounded.
    private static final int JOINED = 8 * 1024;

    private static final int MAX_PIECES = 2048;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    @GuardedBy("lock")
    private final Deque<Piece> pieces = new ArrayDeque<>();

    /// Number of bytes ever written, and how many of them were dropped.
    @GuardedBy("lock")
    private long written;

    @GuardedBy("lock")
    private long dropped;

    @GuardedBy("lock")
    private boolean ended;

    /// Creates a ring for a process that is read from its start.
    OutputRing() {
        this(0);
    }

    /// Creates a ring for a process that wrote `missed` bytes before.
    OutputRing(long missed) {
        this.written = missed;
        this.dropped = missed;
    }

    /// Consecutive bytes of one stream. `from` is their position in the whole output.
    private record Piece(long from, ExecEvent.Stream stream, byte[] bytes) {
        long to() {
            return from + bytes.length;
        }
    }

    /// Bytes of one stream at a reader's position, up to `next`. `missed` bytes before them were lost.
    record Found(ExecEvent.Stream stream, byte[] bytes, long missed, long next) {}

    void add(ExecEvent.Stream stream, byte[] bytes) {
        lock.lock();
        try {
            Piece last = pieces.peekLast();
            if (last != null && last.stream() == stream && last.bytes().length + bytes.length <= JOINED) {
                byte[] joined = Arrays.copyOf(last.bytes(), last.bytes().length + bytes.length);
                System.arraycopy(bytes, 0, joined, last.bytes().length, bytes.length);
                pieces.removeLast();
                pieces.addLast(new Piece(last.from(), stream, joined));
            } else {
                pieces.addLast(new Piece(written, stream, bytes));
            }
            written += bytes.length;
            while (pieces.size() > 1 && (written - pieces.getFirst().to() >= MAX_BYTES || pieces.size() > MAX_PIECES)) {
                dropped = pieces.removeFirst().to();
            }
            dropped = Math.max(dropped, written - MAX_BYTES);
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    void end() {
        lock.lock();
        try {
            ended = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /// Waits for bytes at `place` or after it. Returns nothing at the timeout or at the end of the output.
    Optional<Found> next(long place, Duration timeout) {
        lock.lock();
        try {
            long left = timeout.toNanos();
            while (place >= written && !ended && left > 0) {
                left = changed.awaitNanos(left);
            }
            return place < written ? Optional.of(foundLocked(place)) : Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        } finally {
            lock.unlock();
        }
    }

    /// Reports whether a reader at `place` has read all output.
    boolean isOver(long place) {
        lock.lock();
        try {
            return ended && place >= written;
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock")
    private Found foundLocked(long place) {
        long from = Math.max(place, dropped);
        for (Piece piece : pieces) {
            if (piece.to() > from) {
                int skipped = (int) Math.max(0, from - piece.from());
                byte[] bytes =
                        skipped == 0 ? piece.bytes() : Arrays.copyOfRange(piece.bytes(), skipped, piece.bytes().length);
                return new Found(piece.stream(), bytes, from - place, piece.to());
            }
        }
        throw new AssertionError("there are bytes after " + place + " and no piece holds them");
    }
}
