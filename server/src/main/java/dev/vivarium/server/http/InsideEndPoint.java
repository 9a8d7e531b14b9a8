package dev.vivarium.server.http;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.vivarium.core.inside.InsideConnection;
import dev.vivarium.model.SandboxId;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.eclipse.jetty.io.AbstractEndPoint;
import org.eclipse.jetty.io.EofException;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.util.BufferUtil;
import org.eclipse.jetty.util.thread.Scheduler;
import org.jspecify.annotations.Nullable;

/// Jetty end point of an [InsideConnection], with non-blocking reads and writes. Thread-safe.
///
/// Two threads do the blocking work. One reads a piece from the connection after Jetty has consumed the last piece. The
/// other sends the bytes that Jetty wrote.
///
/// No wake-up is lost, because both sides check after they announce themselves. Jetty registers its interest and then
/// checks ([#needsFillInterest], [#onIncompleteFlush]). A thread changes the state and then notifies Jetty. The two
/// threads never call Jetty themselves, and never with the lock held: Jetty may run a handler that waits for them.
final class InsideEndPoint extends AbstractEndPoint {
    /// Maximum number of bytes written and not sent yet.
    private static final int MAX_UNSENT_BYTES = 32 * 1024;

    /// How long a program may take to disconnect after the last byte of the response.
    private static final Duration DISCONNECT_TIMEOUT = Duration.ofSeconds(10);

    private static final SocketAddress NO_ADDRESS = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    private final InsideConnection connection;
    private final Executor executor;
    private final CountDownLatch ended = new CountDownLatch(1);
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    @GuardedBy("lock")
    private ByteBuffer received = BufferUtil.EMPTY_BUFFER;

    /// Whether the program sends no more.
    @GuardedBy("lock")
    private boolean inputEnded;

    @GuardedBy("lock")
    private final Deque<byte[]> outgoing = new ArrayDeque<>();

    @GuardedBy("lock")
    private int unsentBytes;

    /// Whether Jetty writes no more.
    @GuardedBy("lock")
    private boolean finished;

    @GuardedBy("lock")
    private @Nullable Runnable onDisconnect;

    InsideEndPoint(InsideConnection connection, Scheduler scheduler, Executor executor) {
        super(scheduler);
        this.connection = connection;
        this.executor = executor;
    }

    /// Returns the end point of a request, if the request came from inside a sandbox.
    static Optional<InsideEndPoint> of(Request request) {
        return request.getConnectionMetaData().getConnection().getEndPoint() instanceof InsideEndPoint endPoint
                ? Optional.of(endPoint)
                : Optional.empty();
    }

    SandboxId sandbox() {
        return connection.sandbox();
    }

    /// Runs `action` once, when the program stops sending or disconnects, or at once if it has. Another call
    /// replaces the action.
    void onDisconnect(Runnable action) {
        boolean now;
        lock.lock();
        try {
            now = inputEnded;
            onDisconnect = now ? null : action;
        } finally {
            lock.unlock();
        }
        if (now) {
            action.run();
        }
    }

    /// Transfers bytes in both directions until the connection ends, and notifies Jetty of the end.
    void serve() {
        var gone = new EofException("the program has hung up");
        Thread writer = Thread.ofVirtual()
                .name("control-port-out-" + connection.sandbox())
                .start(this::writeAll);
        try {
            readAll();
            connection.awaitEnd();
            close(gone);
            ended.countDown();
            writer.join();
        } catch (InterruptedException e) {
            close(e);
            Thread.currentThread().interrupt();
        } finally {
            getConnection().onClose(gone);
        }
    }

    private void readAll() throws InterruptedException {
        Optional<byte[]> piece = connection.read();
        while (piece.isPresent() && offer(piece.get())) {
            piece = connection.read();
        }
        Runnable action;
        lock.lock();
        try {
            inputEnded = true;
            action = onDisconnect;
            onDisconnect = null;
        } finally {
            lock.unlock();
        }
        notifyFillable();
        if (action != null) {
            executor.execute(action);
        }
    }

    /// Waits until Jetty has read the piece. Reports whether the connection is still open.
    private boolean offer(byte[] piece) throws InterruptedException {
        notIdle();
        lock.lock();
        try {
            received = ByteBuffer.wrap(piece);
        } finally {
            lock.unlock();
        }
        notifyFillable();
        lock.lock();
        try {
            while (received.hasRemaining() && isOpen()) {
                changed.await();
            }
            return isOpen();
        } finally {
            lock.unlock();
        }
    }

    private void writeAll() {
        try {
            for (Optional<byte[]> piece = take(); piece.isPresent(); piece = take()) {
                if (!connection.write(piece.get(), 0, piece.get().length)) {
                    close(new EofException("the program has hung up"));
                    break;
                }
                notIdle();
                executor.execute(getWriteFlusher()::completeWrite);
            }
            connection.closeOutput();
            awaitClosed();
            ended.await(DISCONNECT_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
            connection.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void awaitClosed() throws InterruptedException {
        lock.lock();
        try {
            while (isOpen()) {
                changed.await();
            }
        } finally {
            lock.unlock();
        }
    }

    /// Returns the next piece to send, or nothing at the end.
    private Optional<byte[]> take() throws InterruptedException {
        lock.lock();
        try {
            while (outgoing.isEmpty() && !finished) {
                changed.await();
            }
            Optional<byte[]> piece = Optional.ofNullable(outgoing.poll());
            unsentBytes -= piece.map(bytes -> bytes.length).orElse(0);
            return piece;
        } finally {
            lock.unlock();
        }
    }

    private void notifyFillable() {
        executor.execute(getFillInterest()::fillable);
    }

    @Override
    protected void needsFillInterest() {
        boolean readable;
        lock.lock();
        try {
            readable = received.hasRemaining() || inputEnded;
        } finally {
            lock.unlock();
        }
        if (readable) {
            notifyFillable();
        }
    }

    @Override
    protected void onIncompleteFlush() {
        boolean writable;
        lock.lock();
        try {
            writable = unsentBytes < MAX_UNSENT_BYTES;
        } finally {
            lock.unlock();
        }
        if (writable) {
            executor.execute(getWriteFlusher()::completeWrite);
        }
    }

    @Override
    public int fill(ByteBuffer buffer) throws IOException {
        if (!isOpen()) {
            throw new EofException("closed");
        }
        if (isInputShutdown()) {
            return -1;
        }
        boolean atEnd;
        lock.lock();
        try {
            int position = BufferUtil.flipToFill(buffer);
            int count = BufferUtil.put(received, buffer);
            BufferUtil.flipToFlush(buffer, position);
            changed.signalAll();
            atEnd = count == 0 && inputEnded && !received.hasRemaining();
            if (!atEnd) {
                return count;
            }
        } finally {
            lock.unlock();
        }
        shutdownInput();
        return -1;
    }

    @Override
    public boolean flush(ByteBuffer... buffers) throws IOException {
        if (!isOpen() || isOutputShutdown()) {
            throw new EofException("closed");
        }
        lock.lock();
        try {
            for (ByteBuffer buffer : buffers) {
                var piece = new byte[Math.min(buffer.remaining(), MAX_UNSENT_BYTES - unsentBytes)];
                if (piece.length > 0) {
                    buffer.get(piece);
                    outgoing.add(piece);
                    unsentBytes += piece.length;
                }
                if (buffer.hasRemaining()) {
                    return false;
                }
            }
            return true;
        } finally {
            changed.signalAll();
            lock.unlock();
        }
    }

    @Override
    protected void doShutdownOutput() {
        finish();
    }

    @Override
    protected void doClose() {
        finish();
    }

    private void finish() {
        lock.lock();
        try {
            finished = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public Object getTransport() {
        return connection;
    }

    @Override
    public SocketAddress getLocalSocketAddress() {
        return NO_ADDRESS;
    }

    @Override
    public SocketAddress getRemoteSocketAddress() {
        return NO_ADDRESS;
    }
}
