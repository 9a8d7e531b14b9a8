package dev.vivarium.server.http;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.vivarium.core.guest.Cancellation;
import dev.vivarium.server.settings.HttpConfig;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.io.ManagedSelector;
import org.eclipse.jetty.io.SocketChannelEndPoint;
import org.eclipse.jetty.io.ssl.SslConnection;
import org.eclipse.jetty.server.ConnectionMetaData;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.util.BufferUtil;
import org.eclipse.jetty.util.thread.Scheduler;
import org.jspecify.annotations.Nullable;

/// Socket of one client that detects a disconnect while the server handles a request. Thread-safe.
///
/// Jetty detects a disconnect only when it reads or writes. To detect it earlier, the end point reads ahead. It keeps
/// the bytes, such as a pipelined request, for the next [#fill]. No wake-up is lost: Jetty registers its interest and
/// then checks for kept bytes. The reader keeps the bytes and then checks for an interest.
final class ClientEndPoint extends SocketChannelEndPoint {
    /// How long the server continues after a FIN if the response has not started. The client may have closed only
    /// its sending side. The server cannot detect whether the client still reads until it sends something.
    private static final Duration HALF_CLOSED = Duration.ofMillis(500);

    private static final int READ_AHEAD = 4 * 1024;

    private final Connections connections;
    private final Executor executor;
    private final Optional<InetAddress> address;
    private final AtomicLong received = new AtomicLong();

    /// HTTP/2 requests in progress.
    private final Set<StreamRequest> streams = ConcurrentHashMap.newKeySet();

    private final ReentrantLock reading = new ReentrantLock();

    @GuardedBy("reading")
    private ByteBuffer ahead = BufferUtil.EMPTY_BUFFER;

    /// Whether the client sent FIN or reset the connection.
    @GuardedBy("reading")
    private boolean ended;

    private volatile SelectionKey key;
    private volatile Phase phase = Phase.HEAD;
    private volatile long since = System.nanoTime();
    private volatile boolean authenticated;
    private volatile @Nullable Work work;
    private volatile long finished;
    private volatile boolean endsAtHalfClose;

    /// Request of the last sweep, the time that the server has waited for its body, and whether disconnect
    /// detection is on. Confined to the sweep.
    private @Nullable Work swept;

    private long waited;
    private boolean watched;

    enum Phase {
        /// A request head is incomplete, or no request has started since the accept.
        HEAD,
        SERVING,
        /// Kept alive between two requests.
        IDLE,
        /// HTTP/2, which reads at any time and detects disconnects by itself.
        MULTIPLEXED,
        /// A WebSocket or another protocol.
        UPGRADED
    }

    /// Request in progress.
    private record Work(Cancellation cancellation, BooleanSupplier hasBegun) {}

    ClientEndPoint(
            SocketChannel channel, ManagedSelector selector, SelectionKey key, Scheduler scheduler, Context context) {
        super(channel, selector, key, scheduler);
        this.key = key;
        this.connections = context.connections;
        this.executor = context.executor;
        this.address = address(channel);
    }

    /// Objects that all end points share.
    record Context(Connections connections, Executor executor) {}

    static Optional<InetAddress> address(SocketChannel channel) {
        try {
            return channel.getRemoteAddress() instanceof InetSocketAddress remote
                    ? Optional.of(remote.getAddress())
                    : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /// Returns the end point of a request, unless the request came from inside a sandbox.
    static Optional<ClientEndPoint> of(Request request) {
        EndPoint endPoint = request.getConnectionMetaData().getConnection().getEndPoint();
        EndPoint socket = endPoint instanceof EndPoint.Wrapper tls ? tls.unwrap() : endPoint;
        return socket instanceof ClientEndPoint client ? Optional.of(client) : Optional.empty();
    }

    /// Returns the address of the client, unless the request came from inside a sandbox.
    static Optional<InetAddress> address(Request request) {
        return of(request).flatMap(ClientEndPoint::address);
    }

    Optional<InetAddress> address() {
        return address;
    }

    /// Starts a request and returns the one to handle. `hasBegun` reports whether its response has started.
    Request begin(Request request, Cancellation cancellation, BooleanSupplier hasBegun) {
        if (request.getConnectionMetaData().getHttpVersion() == HttpVersion.HTTP_2) {
            var stream = new StreamRequest(request);
            streams.add(stream);
            phase = Phase.MULTIPLEXED;
            // The client reset the stream or disconnected.
            request.addFailureListener(_ -> executor.execute(cancellation::cancel));
            return stream;
        }
        received.set(0);
        finished = 0;
        endsAtHalfClose = false;
        work = new Work(cancellation, hasBegun);
        since = System.nanoTime();
        phase = Phase.SERVING;
        return request;
    }

    /// Makes FIN cancel the current request, even after its response has started.
    void endAtHalfClose() {
        endsAtHalfClose = true;
    }

    /// Ends a request that [#begin] returned, with its cancellation.
    void finish(Request request, Cancellation cancellation) {
        if (request instanceof StreamRequest stream) {
            streams.remove(stream);
            return;
        }
        Work served = work;
        if (served != null && served.cancellation == cancellation) {
            work = null;
            if (phase == Phase.SERVING) {
                since = System.nanoTime();
                phase = Phase.IDLE;
            }
        }
    }

    /// Marks the client as authenticated.
    void authenticated() {
        if (!authenticated) {
            authenticated = true;
            connections.authenticated(this);
        }
    }

    /// Reports whether the connection can be closed without aborting a request.
    boolean isUnused() {
        return phase == Phase.HEAD || phase == Phase.IDLE || phase == Phase.MULTIPLEXED && streams.isEmpty();
    }

    /// Checks for a disconnect and for a head or body that is too slow. One thread calls it, every `step`.
    void sweep(long now, Duration step, HttpConfig.Limits limits) {
        switch (phase) {
            case HEAD -> {
                // A complete head waits for a thread of the server, and not for the client.
                if (isFillInterested() && now - since > limits.headDeadline().toNanos()) {
                    close();
                }
            }
            case SERVING -> sweepServing(now, step, limits);
            case MULTIPLEXED -> {
                if (streams.stream().anyMatch(stream -> stream.isTooSlow(step, limits))) {
                    close();
                }
            }
            case IDLE, UPGRADED -> {}
        }
    }

    private void sweepServing(long now, Duration step, HttpConfig.Limits limits) {
        Work served = work;
        if (served != swept || served == null) {
            swept = served;
            waited = 0;
            watched = false;
        } else if (finished != 0) {
            boolean isLate = now - finished > HALF_CLOSED.toNanos() && !served.hasBegun.getAsBoolean();
            if (endsAtHalfClose || isLate) {
                executor.execute(served.cancellation::cancel);
            }
        } else if (!watched) {
            watched = true;
            super.needsFillInterest();
        }
        if (isFillInterested()) {
            waited += step.toNanos();
            if (limits.isTooSlow(Duration.ofNanos(waited), received.get())) {
                close();
            }
        }
    }

    @Override
    public Runnable onSelected() {
        boolean readable = key.isReadable();
        Runnable task = super.onSelected();
        if (readable && phase == Phase.SERVING && !isFillInterested()) {
            readAhead();
        }
        return task;
    }

    @Override
    public void replaceKey(SelectionKey newKey) {
        key = newKey;
        super.replaceKey(newKey);
    }

    private void readAhead() {
        boolean isReset = false;
        boolean watchOn;
        reading.lock();
        try {
            if (ahead.capacity() == 0) {
                ahead = BufferUtil.allocate(READ_AHEAD);
            }
            int position = BufferUtil.flipToFill(ahead);
            try {
                ended |= getChannel().read(ahead) < 0;
            } catch (IOException e) {
                isReset = true;
                ended = true;
            } finally {
                BufferUtil.flipToFlush(ahead, position);
            }
            watchOn = !ended && BufferUtil.space(ahead) > 0;
            finished = ended ? System.nanoTime() : 0;
        } finally {
            reading.unlock();
        }
        Work served = work;
        if (isReset && served != null) {
            executor.execute(served.cancellation::cancel);
        }
        if (isFillInterested()) {
            executor.execute(getFillInterest()::fillable);
        } else if (watchOn) {
            super.needsFillInterest();
        }
    }

    @Override
    protected void needsFillInterest() {
        boolean isReadable;
        reading.lock();
        try {
            isReadable = ahead.hasRemaining() || ended;
        } finally {
            reading.unlock();
        }
        if (isReadable) {
            executor.execute(getFillInterest()::fillable);
        } else {
            super.needsFillInterest();
        }
    }

    @Override
    public int fill(ByteBuffer buffer) {
        if (isInputShutdown()) {
            return -1;
        }
        int count = read(buffer);
        if (count > 0) {
            notIdle();
            received.addAndGet(count);
            if (phase == Phase.IDLE) {
                since = System.nanoTime();
                phase = isHttp() ? Phase.HEAD : Phase.UPGRADED;
            }
        } else if (count < 0) {
            shutdownInput();
        }
        return count;
    }

    /// Reports whether the protocol is still HTTP. TLS does not call [#upgrade].
    private boolean isHttp() {
        Connection inner = getConnection() instanceof SslConnection tls
                ? tls.getSslEndPoint().getConnection()
                : getConnection();
        return inner instanceof ConnectionMetaData;
    }

    private int read(ByteBuffer buffer) {
        reading.lock();
        int position = BufferUtil.flipToFill(buffer);
        try {
            if (!ahead.hasRemaining()) {
                return getChannel().read(buffer);
            }
            int count = BufferUtil.put(ahead, buffer);
            ahead = ahead.hasRemaining() ? ahead : BufferUtil.EMPTY_BUFFER;
            return count;
        } catch (IOException e) {
            return -1;
        } finally {
            BufferUtil.flipToFlush(buffer, position);
            reading.unlock();
        }
    }

    @Override
    public void upgrade(Connection newConnection) {
        // Before the first request, it is the change to HTTP/2.
        phase = phase == Phase.HEAD ? Phase.HEAD : Phase.UPGRADED;
        super.upgrade(newConnection);
    }

    @Override
    public void onOpen() {
        super.onOpen();
        connections.add(this);
    }

    @Override
    public void onClose(@Nullable Throwable cause) {
        connections.remove(this);
        Work served = work;
        if (served != null) {
            executor.execute(served.cancellation::cancel);
        }
        super.onClose(cause);
    }
}
