package dev.vivarium.core.guest;

import dev.vivarium.core.ByteBudget;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Socket of one guest, from the first byte to the disconnect. Thread-safe, except that only the guest loop calls
/// [#read].
///
/// # Design note
///
/// Different threads read and write, without a common lock:
///
/// - **In**: the loop reads, [FrameReader] splits frames, [ChannelTable] finds the channel, and [Channel] queues a copy
///   of the payload. This is the only copy of bulk data. The loop never waits for a consumer: the credit of the guest
///   bounds the queue of a channel, and a guest that exceeds its credit loses the connection.
/// - **Out**: callers write in their own thread, one frame at a time ([FrameWriter]). The loop writes nothing, so it
///   cannot wait for a guest that does not read. A deadlock in which both peers wait for the other to read is therefore
///   impossible.
/// - **End**: [#disconnect] takes effect once, from either side. It closes the socket, ends every channel with the same
///   failure, and wakes all threads that wait for a message, for credit, for room in the socket or for a pong. A
///   channel is first added and then checked, so a channel that is being opened is either ended by `disconnect` or sees
/// the
///   loss.
final class Connection {
    private static final Logger log = LoggerFactory.getLogger(Connection.class);

    private final SandboxId id;
    private final SocketChannel socket;
    private final GuestLoop loop;
    private final FrameReader reader = new FrameReader();
    private final ChannelTable channelTable;
    private final FrameWriter outbound;
    private final AtomicReference<@Nullable Disconnect> loss = new AtomicReference<>();
    private final List<Runnable> listeners = new ArrayList<>();
    private volatile GuestObserver observer = GuestObserver.NONE;

    Connection(GuestLoop loop, SandboxId id, SocketChannel socket) {
        this.loop = loop;
        this.id = id;
        this.socket = socket;
        this.channelTable = new ChannelTable(id);
        this.outbound = new FrameWriter(socket, () -> loop.requestRoom(this));
    }

    SandboxId id() {
        return id;
    }

    SocketChannel socket() {
        return socket;
    }

    ChannelTable channelTable() {
        return channelTable;
    }

    /// Empty reservation for received bytes that no caller has read.
    ByteBudget.Reservation reservation() {
        return loop.memory().open("/" + id);
    }

    GuestObserver observer() {
        return observer;
    }

    void observedBy(GuestObserver other) {
        observer = other;
    }

    Optional<Disconnect> loss() {
        return Optional.ofNullable(loss.get());
    }

    /// Reports whether the connection ended because of a fault of the server.
    boolean isLostByServer() {
        return loss().filter(known -> known.cause() == Disconnect.Cause.SERVER_FAULT)
                .isPresent();
    }

    /// Accepts frames of every kind and full length. Must be called before WELCOME is sent.
    void welcome() {
        reader.allowFullFrames();
        channelTable.welcome();
    }

    /// Reads at most `limit` bytes once, and dispatches the frames.
    void read(ByteBuffer buffer, int limit) {
        try {
            buffer.clear();
            reader.restore(buffer);
            buffer.limit(buffer.position() + limit);
            if (socket.read(buffer) < 0) {
                disconnect(Disconnect.Cause.BROKEN, "the guest hung up");
                return;
            }
            reader.read(buffer.flip(), channelTable);
        } catch (IOException e) {
            disconnect(Disconnect.Cause.BROKEN, "the stream broke: " + e.getMessage());
        } catch (ProtocolViolation e) {
            violated(e);
        } finally {
            channelTable.wake();
        }
    }

    void onRoom() {
        outbound.onRoom();
    }

    /// Writes one frame. Throws if the connection is lost.
    void send(ByteBuffer... frame) {
        if (!offer(frame)) {
            throw diagnosed(unreachable());
        }
    }

    /// Writes one frame, and ignores a lost connection. Returns true if the frame was written.
    boolean offer(ByteBuffer... frame) {
        try {
            outbound.send(frame);
            return true;
        } catch (IOException e) {
            disconnect(Disconnect.Cause.BROKEN, "the stream broke: " + e.getMessage());
            return false;
        }
    }

    /// Writes one frame with a time limit of `nanos`. Returns true if the frame was written.
    boolean offerWithin(long nanos, ByteBuffer frame) throws InterruptedException {
        try {
            return outbound.trySend(frame, nanos);
        } catch (IOException e) {
            disconnect(Disconnect.Cause.BROKEN, "the stream broke: " + e.getMessage());
            return false;
        }
    }

    /// Closes the connection after a protocol violation; returns the exception for its callers.
    SandboxException violated(ProtocolViolation violation) {
        if (disconnect(Disconnect.Cause.VIOLATION, "it broke the protocol: " + violation.getMessage())) {
            log.warn("sandbox {} broke the protocol, closing its connection: {}", id, violation.getMessage());
        }
        return unreachable();
    }

    /// Ends the connection. Returns false if it has ended before.
    boolean disconnect(Disconnect.Cause cause, String why) {
        var mine = new Disconnect(cause, why);
        if (!loss.compareAndSet(null, mine)) {
            return false;
        }
        outbound.close();
        loop.detach(this);
        channelTable.lost(new Failure.GuestUnreachable(id, why));
        List<Runnable> waiting;
        synchronized (listeners) {
            waiting = List.copyOf(listeners);
            listeners.clear();
        }
        waiting.forEach(this::notifyListener);
        return true;
    }

    /// Runs `listener` once after the loss of the connection; at once if it is already lost.
    void onLost(Runnable listener) {
        synchronized (listeners) {
            if (loss.get() == null) {
                listeners.add(listener);
                return;
            }
        }
        notifyListener(listener);
    }

    /// Failure of calls after the loss of the connection.
    SandboxException unreachable() {
        return unreachable("the connection is lost");
    }

    /// Replaces `failed` by the explanation of the observer, if the cause is a lost connection. Can block, so the
    /// caller must hold no lock.
    SandboxException diagnosed(SandboxException failed) {
        if (loss.get() != null && failed.failure() instanceof Failure.GuestUnreachable lost) {
            return new SandboxException(observer.diagnose(lost), failed);
        }
        return failed;
    }

    /// Failure with the reason of the disconnect, or with `reason` if the connection is not lost.
    SandboxException unreachable(String reason) {
        String why = loss().map(Disconnect::why).orElse(reason);
        return new SandboxException(new Failure.GuestUnreachable(id, why));
    }

    private void notifyListener(Runnable listener) {
        Thread.ofVirtual().name("guest-lost-" + id).start(listener);
    }
}
