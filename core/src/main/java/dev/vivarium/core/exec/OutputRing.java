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

/// The last of what a process wrote, for any number of readers, each at its own place. A reader that is too slow
/// loses the oldest part and is told how much; the process never waits for it. Thread-safe.
final class OutputRing {
    static final int MAX_BYTES = 256 * 1024;

    /// Many tiny pieces would cost far more than their bytes, so that neighbours are joined up to this size, and
    /// what cannot be joined is bounded by number.
    private static final int JOINED = 8 * 1024;

    private static final int MAX_PIECES = 2048;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition news = lock.newCondition();

    @GuardedBy("lock")
    private final Deque<Piece> pieces = new ArrayDeque<>();

    /// How many bytes were ever written, and how many of them are no longer here.
    @GuardedBy("lock")
    private long written;

    @GuardedBy("lock")
    private long dropped;

    @GuardedBy("lock")
    private boolean ended;

    /// A tail of a process that is heard from the beginning.
    OutputRing() {
        this(0);
    }

    /// A tail of a process that had written so much before it is heard.
    OutputRing(long missed) {
        this.written = missed;
        this.dropped = missed;
    }

    /// Consecutive bytes of one stream; `from` is where they stand in all that was ever written.
    private record Piece(long from, ExecEvent.Stream stream, byte[] bytes) {
        long to() {
            return from + bytes.length;
        }
    }

    /// What a reader finds at its place: bytes of one stream up to `next`, of which `missed` were lost before them.
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
            news.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /// Nothing more will be written.
    void end() {
        lock.lock();
        try {
            ended = true;
            news.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /// Waits for what is at `place` or after it. Nothing when the patience or the output is at its end.
    Optional<Found> next(long place, Duration patience) {
        lock.lock();
        try {
            long left = patience.toNanos();
            while (place >= written && !ended && left > 0) {
                left = news.awaitNanos(left);
            }
            return place < written ? Optional.of(foundLocked(place)) : Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        } finally {
            lock.unlock();
        }
    }

    /// Reports whether a reader at `place` has seen everything that will ever come.
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
