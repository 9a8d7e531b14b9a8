package dev.vivarium.core.guest;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// The writing half of a connection: callers write whole frames themselves, one at a time. Thread-safe.
///
/// The lock is kept while a half-written frame waits for room, because nothing may come between its parts. It is fair,
/// so that a ping among bulk senders waits for one frame of each and not for their whole transfer. Nobody may hold it
/// while waiting for credit.
final class FrameWriter {
    private static final long FOREVER = Long.MAX_VALUE;

    private final SocketChannel socket;
    private final Runnable askForRoom;
    private final ReentrantLock writing = new ReentrantLock(true);

    /// The holder of the lock while it waits for room.
    private volatile @Nullable Thread waiting;

    private volatile boolean room;
    private volatile boolean closed;

    /// `askForRoom` must lead to a call of [#onRoom] as soon as the socket takes bytes again.
    FrameWriter(SocketChannel socket, Runnable askForRoom) {
        this.socket = socket;
        this.askForRoom = askForRoom;
    }

    /// Writes the parts of one frame, however long that takes. Returns when the kernel has them.
    void send(ByteBuffer... frame) throws IOException {
        writing.lock();
        try {
            write(frame, FOREVER);
        } finally {
            writing.unlock();
        }
    }

    /// Writes one frame unless there is no room for it within `nanos`. Reports whether it was written.
    boolean trySend(ByteBuffer frame, long nanos) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + nanos;
        if (!writing.tryLock(nanos, TimeUnit.NANOSECONDS)) {
            return false;
        }
        try {
            return write(new ByteBuffer[] {frame}, deadline);
        } finally {
            writing.unlock();
        }
    }

    /// Called by the loop when the socket takes bytes again.
    void onRoom() {
        room = true;
        LockSupport.unpark(waiting);
    }

    /// Releases whoever waits for room; every later call fails.
    void close() {
        closed = true;
        LockSupport.unpark(waiting);
    }

    private boolean write(ByteBuffer[] frame, long deadline) throws IOException {
        boolean begun = false;
        ByteBuffer end = frame[frame.length - 1];
        while (end.hasRemaining()) {
            if (closed) {
                throw new ClosedChannelException();
            }
            // A gathered write costs more than a plain one, and most frames are one part.
            long written = frame.length == 1 ? socket.write(end) : socket.write(frame);
            begun |= written > 0;
            if (end.hasRemaining() && !awaitRoom(deadline)) {
                if (begun) {
                    throw new IOException("the guest stopped reading inside a frame");
                }
                return false;
            }
        }
        return true;
    }

    private boolean awaitRoom(long deadline) {
        room = false;
        waiting = Thread.currentThread();
        askForRoom.run();
        boolean interrupted = false;
        try {
            while (!room && !closed) {
                if (deadline == FOREVER) {
                    LockSupport.park(this);
                } else if (deadline - System.nanoTime() > 0) {
                    LockSupport.parkNanos(this, deadline - System.nanoTime());
                } else {
                    return false;
                }
                // A frame cannot be left half-written, so an interrupt is kept for later.
                interrupted |= Thread.interrupted();
            }
            return true;
        } finally {
            waiting = null;
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
