package dev.vivarium.core.guest;

import dev.vivarium.core.ByteBudget;
import dev.vivarium.core.VitalThread;
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

/// The one worker that reads from every guest. Thread-safe.
///
/// # Design note
///
/// One platform worker with one selector serves thousands of guests: it reads, cuts frames and hands them over, which
/// is memory copying and unparking and nothing that can wait. A worker for each guest would need a wake-up and a stack
/// each; reads by virtual threads measured at two thirds of this bandwidth.
///
/// Guests are served in turns: each one that has something gets one read of at most [#READ] bytes before the next is
/// looked at, so a guest that floods delays another by the time of one copy. All share one direct buffer; only the part
/// of a frame that has not wholly arrived is kept for a guest between turns.
///
/// If a guest breaks the protocol, or if code of the server fails on its bytes, only the connection of that guest is
/// closed. A failure of the server does not count against the sandbox.
public final class GuestLoop implements AutoCloseable {
    /// How much is read from one guest in a turn.
    static final int READ = 262_144;

    private static final Logger log = LoggerFactory.getLogger(GuestLoop.class);

    private final Selector selector;
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(FrameReader.MAX_REST + READ);
    private final Thread worker;

    /// Callers of [#isResponsive], until the loop has seen them.
    private final Queue<CountDownLatch> probes = new ConcurrentLinkedQueue<>();

    private volatile boolean closing;

    private final ByteBudget memory;

    private GuestLoop(Selector selector, ByteBudget memory) {
        this.selector = selector;
        this.memory = memory;
        this.worker = VitalThread.unstarted("guest-loop", this::run);
    }

    /// A loop with a memory budget of its own.
    public static GuestLoop start() {
        return start(new ByteBudget(ByteBudget.quarterOfHeap()));
    }

    /// `memory` is for bytes that guests sent and nobody has read yet.
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

    /// Begins to read from `socket`, which belongs to the connection from now on.
    Connection attach(SandboxId id, SocketChannel socket) {
        var connection = new Connection(this, id, socket);
        try {
            socket.configureBlocking(false);
            socket.register(selector, SelectionKey.OP_READ, connection);
        } catch (IOException | RuntimeException e) {
            connection.lose(Disconnect.Cause.SERVER_FAULT, "its socket cannot be read: " + e.getMessage());
            throw new SandboxException(new Failure.ProviderFailed("read from the guest", String.valueOf(e)), e);
        }
        selector.wakeup();
        return connection;
    }

    /// Closes the connection's socket. The descriptor is released by the selector, which is therefore woken.
    void detach(Connection connection) {
        try {
            connection.socket().close();
        } catch (IOException e) {
            log.debug("closing the socket of sandbox {}", connection.id(), e);
        }
        selector.wakeup();
    }

    /// Has [Connection#onRoom] called as soon as the connection's socket takes bytes.
    void askForRoom(Connection connection) {
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

    /// Reports whether the loop runs: whether it finishes what it does and sees this call within `timeout`.
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

    /// Closes every connection and waits for the worker to end. Idempotent.
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

    /// Can be run again after a failure: the selector keeps the connections.
    private void run() {
        try {
            while (!closing) {
                selector.select(this::serve);
                probes.forEach(CountDownLatch::countDown);
            }
            loseAll();
            selector.selectNow(); // releases the descriptors of the closed sockets
            selector.close();
        } catch (IOException e) {
            throw new UncheckedIOException("selecting the guests that have sent something", e);
        }
    }

    private void loseAll() {
        for (SelectionKey key : List.copyOf(selector.keys())) {
            ((Connection) key.attachment()).lose(Disconnect.Cause.CLOSED, "the server is stopping");
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
            connection.lose(Disconnect.Cause.SERVER_FAULT, "its socket was closed");
        } catch (RuntimeException e) {
            log.error("the server failed while it read from sandbox {}", connection.id(), e);
            connection.lose(Disconnect.Cause.SERVER_FAULT, "the server failed to handle its bytes");
        } catch (Error e) {
            // Frames of this read may be lost, so the stream cannot be continued.
            connection.lose(Disconnect.Cause.SERVER_FAULT, "the server failed to handle its bytes");
            throw e;
        }
    }
}
