package dev.vivarium.core.guest;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// Writing half of a connection. Callers write whole frames in their own thread, one at a time. Thread-safe.
///
/// A writer holds the lock while a partly written frame waits for room, because frames must not interleave. The lock is
/// fair, so a ping waits for one frame of each bulk sender and not for the whole transfer. No thread may hold the lock
/// while it waits for credit.
final class FrameWriter {
    private static final long FOREVER = Long.MAX_VALUE;

    private final SocketChannel socket;
    private final Runnable requestRoom;
    private final ReentrantLock writing = new ReentrantLock(true);

    /// Holder of the lock, while it waits for room.
    private volatile @Nullable Thread waiting;

    private volatile boolean room;
    private volatile boolean closed;

    /// `requestRoom` must cause a call of [#onRoom] as soon as the socket is writable again.
    FrameWriter(SocketChannel socket, Runnable requestRoom) {
        this.socket = socket;
        this.requestRoom = requestRoom;
    }

    /// Writes the parts of one frame, without a time limit. Returns when the kernel has accepted them.
    void send(ByteBuffer... frame) throws IOException {
        writing.lock();
        try {
            write(frame, FOREVER);
        } finally {
            writing.unlock();
        }
    }

    /// Writes one frame if there is room within `nanos`. Returns true if the frame was written.
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

    /// Called by the guest loop when the socket is writable again.
    void onRoom() {
        room = true;
        LockSupport.unpark(waiting);
    }

    /// Unparks a thread that waits for room; every later call fails.
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
            // A gathering write costs more than a plain write, and most frames have one part.
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
        requestRoom.run();
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
                // A frame must not stay partly written, so the interrupt is restored later.
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
