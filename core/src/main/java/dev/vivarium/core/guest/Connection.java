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

/// One guest's socket from the first byte to its loss. Thread-safe; [#read] is for the guest loop alone.
///
/// # Design note
///
/// Reading and writing are done by different workers and meet in no lock:
///
/// - **In**: the loop reads, [FrameReader] cuts frames, [ChannelTable] finds the channel, [Channel] queues a copy of
/// the
///   payload. This is the only copy of bulk data, and the loop never waits for a consumer: a channel's queue cannot be
///   full, since the guest may send no more than the credit it was given, and one that sends more loses the connection.
/// - **Out**: callers write in their own worker, a frame at a time ([FrameWriter]). The loop writes nothing, so it
/// cannot
///   wait for a guest that does not read. Two peers that both wait for the other to read are thus impossible.
/// - **The end** comes once ([#lose]), from either side, for one of three causes. It closes the socket, ends every
///   channel with the same failure and wakes everybody who waits: for a message, for credit, for room in the socket,
/// for
///   a pong. A channel that is being opened at that moment is either seen by `lose` or sees the loss itself, because it
/// is
///   first added and then checked.
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
    private volatile GuestObserver keeper = GuestObserver.NONE;

    Connection(GuestLoop loop, SandboxId id, SocketChannel socket) {
        this.loop = loop;
        this.id = id;
        this.socket = socket;
        this.channelTable = new ChannelTable(id);
        this.outbound = new FrameWriter(socket, () -> loop.askForRoom(this));
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

    /// An empty reservation for bytes of this guest that nobody has read yet.
    ByteBudget.Reservation reservation() {
        return loop.memory().open("/" + id);
    }

    GuestObserver keeper() {
        return keeper;
    }

    void keptBy(GuestObserver other) {
        keeper = other;
    }

    Optional<Disconnect> loss() {
        return Optional.ofNullable(loss.get());
    }

    /// Reports whether the connection ended because the server failed.
    boolean isLostByServer() {
        return loss().filter(known -> known.cause() == Disconnect.Cause.SERVER_FAULT)
                .isPresent();
    }

    /// Lets the guest send frames of every kind and full length. Must be called before WELCOME is sent.
    void welcome() {
        reader.trust();
        channelTable.welcome();
    }

    /// Reads once, at most `limit` bytes, and hands the frames over.
    void read(ByteBuffer buffer, int limit) {
        try {
            buffer.clear();
            reader.restore(buffer);
            buffer.limit(buffer.position() + limit);
            if (socket.read(buffer) < 0) {
                lose(Disconnect.Cause.BROKEN, "the guest hung up");
                return;
            }
            reader.read(buffer.flip(), channelTable);
        } catch (IOException e) {
            lose(Disconnect.Cause.BROKEN, "the stream broke: " + e.getMessage());
        } catch (ProtocolViolation e) {
            violated(e);
        } finally {
            channelTable.wake();
        }
    }

    void onRoom() {
        outbound.onRoom();
    }

    /// Writes one frame. Throws when the guest is lost.
    void send(ByteBuffer... frame) {
        if (!offer(frame)) {
            throw explained(unreachable());
        }
    }

    /// Writes one frame that nobody misses if the guest is lost. Reports whether it was written.
    boolean offer(ByteBuffer... frame) {
        try {
            outbound.send(frame);
            return true;
        } catch (IOException e) {
            lose(Disconnect.Cause.BROKEN, "the stream broke: " + e.getMessage());
            return false;
        }
    }

    /// Writes one frame unless that takes longer than `nanos`. Reports whether it was written.
    boolean offerWithin(long nanos, ByteBuffer frame) throws InterruptedException {
        try {
            return outbound.trySend(frame, nanos);
        } catch (IOException e) {
            lose(Disconnect.Cause.BROKEN, "the stream broke: " + e.getMessage());
            return false;
        }
    }

    /// Closes the connection of a guest that broke the protocol; returns what its callers get.
    SandboxException violated(ProtocolViolation violation) {
        if (lose(Disconnect.Cause.VIOLATION, "it broke the protocol: " + violation.getMessage())) {
            log.warn("sandbox {} broke the protocol, closing its connection: {}", id, violation.getMessage());
        }
        return unreachable();
    }

    /// Ends the connection, if nobody has before. Reports whether this call did it.
    boolean lose(Disconnect.Cause cause, String why) {
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
        waiting.forEach(this::tell);
        return true;
    }

    /// Runs `listener` once when the connection is lost, or now if it is.
    void onLost(Runnable listener) {
        synchronized (listeners) {
            if (loss.get() == null) {
                listeners.add(listener);
                return;
            }
        }
        tell(listener);
    }

    /// Why calls fail; to be thrown after a loss.
    SandboxException unreachable() {
        return unreachable("the connection is lost");
    }

    /// What a caller is told instead of `failed`, if that is because of a loss. May wait, so no lock may be held.
    SandboxException explained(SandboxException failed) {
        if (loss.get() != null && failed.failure() instanceof Failure.GuestUnreachable lost) {
            return new SandboxException(keeper.explain(lost), failed);
        }
        return failed;
    }

    /// Why a call fails: `why`, unless the connection is lost and that is the reason.
    SandboxException unreachable(String reason) {
        String why = loss().map(Disconnect::why).orElse(reason);
        return new SandboxException(new Failure.GuestUnreachable(id, why));
    }

    private void tell(Runnable listener) {
        Thread.ofVirtual().name("guest-lost-" + id).start(listener);
    }
}
