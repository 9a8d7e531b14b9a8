package dev.vivarium.core.guest;

import dev.vivarium.core.ByteBudget;
import dev.vivarium.core.CriticalThread;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Event loop that reads from all guests. Thread-safe.
///
/// # Design note
///
/// One platform thread with one selector serves thousands of guests. It reads, splits and dispatches frames: it copies
/// memory and unparks threads, and never blocks. A thread for each guest needs a wake-up and a stack each. Reads in
/// virtual threads reached two thirds of this bandwidth.
///
/// The loop serves guests round-robin. Each readable guest gets one read of at most [#READ] bytes, so a guest that
/// floods delays another guest by the time of one copy. All guests share one direct buffer. Between reads, the loop
/// stores only the incomplete frame of a guest.
///
/// If a guest violates the protocol, or if code of the server fails on its bytes, the loop closes the connection of
/// that guest only. A failure of the server does not count against the sandbox.
public final class GuestLoop implements AutoCloseable {
    /// Maximum number of bytes of one read.
    static final int READ = 262_144;

    private static final Logger log = LoggerFactory.getLogger(GuestLoop.class);

    private final Selector selector;
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(FrameReader.MAX_REST + READ);
    private final Thread worker;

    /// Latches of [#isResponsive] calls that the loop has not counted down yet.
    private final Queue<CountDownLatch> probes = new ConcurrentLinkedQueue<>();

    private volatile boolean closing;

    private final ByteBudget memory;

    private GuestLoop(Selector selector, ByteBudget memory) {
        this.selector = selector;
        this.memory = memory;
        this.worker = CriticalThread.unstarted("guest-loop", this::run);
    }

    /// Starts a loop with its own memory budget.
    public static GuestLoop start() {
        return start(new ByteBudget(ByteBudget.quarterOfHeap()));
    }

    /// Starts a loop; `memory` bounds received bytes that no caller has read.
    public static GuestLoop start(ByteBudget memory) {
        try {
            var loop = new GuestLoop(Selector.open(), memory);
            loop.worker.start();
            return loop;
        } catch (IOException e) {
            throw new UncheckedIOException("opening a selector", e);
        }
    }

    ByteBudget memory() {
        return memory;
    }

    /// Starts to read from `socket`; the connection owns it from now on.
    Connection attach(SandboxId id, SocketChannel socket) {
        var connection = new Connection(this, id, socket);
        try {
            socket.configureBlocking(false);
            socket.register(selector, SelectionKey.OP_READ, connection);
        } catch (IOException | RuntimeException e) {
            connection.disconnect(Disconnect.Cause.SERVER_FAULT, "its socket cannot be read: " + e.getMessage());
            throw new SandboxException(new Failure.ProviderFailed("read from the guest", String.valueOf(e)), e);
        }
        selector.wakeup();
        return connection;
    }

    /// Closes the socket of the connection. The selector releases the descriptor, so it is woken.
    void detach(Connection connection) {
        try {
            connection.socket().close();
        } catch (IOException e) {
            log.debug("closing the socket of sandbox {}", connection.id(), e);
        }
        selector.wakeup();
    }

    /// Causes a call of [Connection#onRoom] as soon as the socket is writable.
    void requestRoom(Connection connection) {
        SelectionKey key = connection.socket().keyFor(selector);
        try {
            if (key != null) {
                key.interestOpsOr(SelectionKey.OP_WRITE);
                selector.wakeup();
            }
        } catch (CancelledKeyException e) {
            log.trace("sandbox {} was lost while writing to it", connection.id(), e);
        }
    }

    /// Reports whether the loop handles this call within `timeout`.
    public boolean isResponsive(Duration timeout) {
        var seen = new CountDownLatch(1);
        probes.add(seen);
        try {
            if (!worker.isAlive()) {
                return false;
            }
            selector.wakeup();
            return seen.await(timeout.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } finally {
            probes.remove(seen);
        }
    }

    /// Closes every connection and waits for the thread to exit. Idempotent.
    @Override
    public void close() {
        closing = true;
        selector.wakeup();
        boolean interrupted = false;
        while (worker.isAlive()) {
            try {
                worker.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /// Loop body. It can restart after a failure, because the selector keeps the connections.
    private void run() {
        try {
            while (!closing) {
                selector.select(this::serve);
                probes.forEach(CountDownLatch::countDown);
            }
            disconnectAll();
            selector.selectNow(); // releases the descriptors of the closed sockets
            selector.close();
        } catch (IOException e) {
            throw new UncheckedIOException("selecting the guests that have sent something", e);
        }
    }

    private void disconnectAll() {
        for (SelectionKey key : List.copyOf(selector.keys())) {
            ((Connection) key.attachment()).disconnect(Disconnect.Cause.CLOSED, "the server is stopping");
        }
    }

    private void serve(SelectionKey key) {
        var connection = (Connection) key.attachment();
        try {
            if (key.isWritable()) {
                key.interestOpsAnd(~SelectionKey.OP_WRITE);
                connection.onRoom();
            }
            if (key.isReadable()) {
                connection.read(buffer, READ);
            }
        } catch (CancelledKeyException e) {
            connection.disconnect(Disconnect.Cause.SERVER_FAULT, "its socket was closed");
        } catch (RuntimeException e) {
            log.error("the server failed while it read from sandbox {}", connection.id(), e);
            connection.disconnect(Disconnect.Cause.SERVER_FAULT, "the server failed to handle its bytes");
        } catch (Error e) {
            // Frames of this read may be lost, so the stream cannot continue.
            connection.disconnect(Disconnect.Cause.SERVER_FAULT, "the server failed to handle its bytes");
            throw e;
        }
    }
}
