package dev.vivarium.server.preview;

import dev.vivarium.core.preview.Connection;
import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.eclipse.jetty.io.AbstractConnection;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.util.Blocker;
import org.eclipse.jetty.util.BufferUtil;
import org.jspecify.annotations.Nullable;

/// Bidirectional byte stream of an upgraded connection. Thread-safe.
///
/// Each direction has its own flow control and ends independently.
final class Tunnel extends AbstractConnection implements org.eclipse.jetty.io.Connection.UpgradeTo {
    private static final int BUFFER_BYTES = 32 * 1024;

    private final Connection inside;
    private final ByteBuffer firstOut;
    private final Duration timeout;
    private final AtomicInteger open = new AtomicInteger(2);
    private ByteBuffer firstIn = BufferUtil.EMPTY_BUFFER;
    private Runnable afterwards = () -> {};

    /// Takes over the bytes that the program sent after its response head. If no byte passes for `timeout`, the
    /// tunnel closes.
    Tunnel(EndPoint caller, Executor executor, Upstream upstream, Duration timeout) {
        super(caller, executor);
        this.inside = upstream.connection();
        this.firstOut = BufferUtil.copy(upstream.rest());
        this.timeout = timeout;
    }

    /// Sets the listener for the end of the tunnel. Call it before the tunnel opens.
    void whenClosed(Runnable listener) {
        afterwards = listener;
    }

    /// Keeps the bytes that the client sent after its request.
    @Override
    public void onUpgradeTo(ByteBuffer buffer) {
        firstIn = BufferUtil.copy(buffer);
    }

    @Override
    public void onOpen() {
        super.onOpen();
        getEndPoint().setIdleTimeout(timeout.toMillis());
        Thread.ofVirtual().name("preview-tunnel-in").start(() -> run(this::inward));
        Thread.ofVirtual().name("preview-tunnel-out").start(() -> run(this::outward));
    }

    /// One direction of the tunnel.
    @FunctionalInterface
    private interface Way {
        void pass() throws IOException;
    }

    private void run(Way way) {
        try {
            way.pass();
            if (open.decrementAndGet() == 0) {
                close();
            }
        } catch (IOException | SandboxException e) {
            // One side is gone, so the other side is closed too.
            close();
        }
    }

    private void inward() throws IOException {
        byte[] early = BufferUtil.toArray(firstIn);
        boolean wanted = inside.write(early, 0, early.length);
        ByteBuffer buffer = BufferUtil.allocate(BUFFER_BYTES);
        while (wanted && fill(buffer) >= 0) {
            byte[] bytes = BufferUtil.toArray(buffer);
            wanted = inside.write(bytes, 0, bytes.length);
            BufferUtil.clear(buffer);
        }
        inside.closeOutput();
    }

    private int fill(ByteBuffer buffer) throws IOException {
        while (true) {
            int count = getEndPoint().fill(buffer);
            if (count != 0) {
                return count;
            }
            try (var readable = Blocker.callback()) {
                getEndPoint().fillInterested(readable);
                readable.block();
            }
        }
    }

    private void outward() throws IOException {
        send(firstOut);
        byte[] buffer = new byte[BUFFER_BYTES];
        for (int count; (count = inside.read(buffer, 0, buffer.length)) >= 0; ) {
            send(ByteBuffer.wrap(buffer, 0, count));
        }
        getEndPoint().shutdownOutput();
    }

    private void send(ByteBuffer bytes) throws IOException {
        if (bytes.hasRemaining()) {
            try (var sent = Blocker.callback()) {
                getEndPoint().write(sent, bytes);
                sent.block();
            }
        }
    }

    @Override
    public void onFillable() {
        throw new IllegalStateException("a tunnel waits for its bytes itself");
    }

    @Override
    public void onClose(@Nullable Throwable cause) {
        inside.close();
        afterwards.run();
        super.onClose(cause);
    }

    @Override
    public void close() {
        inside.close();
        super.close();
    }
}
