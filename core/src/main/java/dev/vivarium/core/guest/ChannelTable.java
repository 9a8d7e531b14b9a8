package dev.vivarium.core.guest;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Table of the channels of one connection, which dispatches each frame to its channel. Only the guest loop delivers
/// frames; the other methods are thread-safe.
///
/// No method blocks or runs code of a caller. A frame changes the state of its channel. After each read, [#wake]
/// unparks the waiting threads once, not once for each frame.
final class ChannelTable implements FrameReader.Sink {
    /// Limit of the protocol. A closed channel counts until the guest has ended it, so a guest that never ends
    /// channels has a bounded cost.
    static final int MAX_CHANNELS = 1_024;

    private static final Logger LOG = LoggerFactory.getLogger(ChannelTable.class);

    private final SandboxId id;
    private final Map<Integer, Channel> channels = new ConcurrentHashMap<>();
    private final Map<Integer, IncomingConnections> listeners = new ConcurrentHashMap<>();

    /// Listener of each incoming connection. Confined to the guest loop.
    private final Map<Integer, IncomingConnections> arrived = new HashMap<>();

    private final AtomicInteger lastNumber = new AtomicInteger();
    private final Map<Long, CompletableFuture<Long>> pings = new ConcurrentHashMap<>();
    private final CompletableFuture<Fields> hello = new CompletableFuture<>();
    private volatile Stage stage = Stage.SILENT;

    /// Channels that the frames of the current read changed. Confined to the guest loop.
    private final List<Channel> touched = new ArrayList<>();

    private enum Stage {
        SILENT,
        HELLO_RECEIVED,
        WELCOMED
    }

    ChannelTable(SandboxId id) {
        this.id = id;
    }

    /// Completes with the first frame.
    CompletableFuture<Fields> hello() {
        return hello;
    }

    /// Accepts all kinds of frames. Must be called before WELCOME is sent.
    void welcome() {
        stage = Stage.WELCOMED;
    }

    /// Creates a channel with a free number.
    Channel add(IntFunction<Channel> make) {
        if (channels.size() >= MAX_CHANNELS) {
            throw new SandboxException(new Failure.TooManyCommands(id, MAX_CHANNELS));
        }
        while (true) {
            int number = lastNumber.updateAndGet(last -> last == Integer.MAX_VALUE ? 1 : last + 1);
            Channel channel = make.apply(number);
            if (channels.putIfAbsent(number, channel) == null) {
                return channel;
            }
        }
    }

    /// Reserves the number of a channel from an earlier connection until that channel ends.
    void reserve(Channel channel) {
        channels.put(channel.number(), channel);
    }

    /// Registers `incomingConnections` for a listener that is about to be opened, until the channel of the listener
    /// ends.
    void addListener(int listener, IncomingConnections incomingConnections) {
        listeners.put(listener, incomingConnections);
    }

    /// Completes with the arrival time of the reply to `token`; the caller removes the entry.
    CompletableFuture<Long> expectPong(long token) {
        return pings.computeIfAbsent(token, _ -> new CompletableFuture<>());
    }

    void forgetPong(long token) {
        pings.remove(token);
    }

    @Override
    public void frame(int number, Kind kind, ByteBuffer payload) {
        if (stage != Stage.WELCOMED) {
            acceptHello(number, kind, payload);
        } else if (number == 0) {
            control(kind, payload);
        } else {
            route(number, kind, payload);
        }
    }

    /// Unparks the threads that wait for the frames of the last read.
    void wake() {
        for (Channel channel : touched) {
            channel.wake();
        }
        touched.clear();
    }

    /// Ends every channel and unparks all waiting threads.
    void lost(Failure failure) {
        var cause = new SandboxException(failure);
        hello.completeExceptionally(cause);
        pings.values().forEach(ping -> ping.completeExceptionally(cause));
        channels.values().forEach(channel -> lost(channel, failure));
        channels.clear();
        listeners.clear();
    }

    /// Ends one channel. A failure of the server on one channel must not block the others.
    private void lost(Channel channel, Failure failure) {
        try {
            channel.onLost(failure);
        } catch (RuntimeException e) {
            LOG.error("the server failed to end a channel of sandbox {}", id, e);
        } finally {
            channel.wake();
        }
    }

    private void acceptHello(int number, Kind kind, ByteBuffer payload) {
        if (stage != Stage.SILENT || number != 0 || kind != Kind.HELLO) {
            throw new ProtocolViolation(
                    "expected HELLO on channel 0 and nothing else before WELCOME, but the guest sent " + kind);
        }
        stage = Stage.HELLO_RECEIVED;
        hello.complete(Fields.copyOf(payload));
    }

    private void control(Kind kind, ByteBuffer payload) {
        if (kind != Kind.PONG) {
            throw new ProtocolViolation(kind + " came on channel 0");
        }
        var ping = pings.get(new Fields(payload).i64());
        if (ping != null) {
            ping.complete(System.nanoTime());
        }
    }

    private void route(int number, Kind kind, ByteBuffer payload) {
        Channel channel = channels.get(number);
        switch (kind) {
            case STARTED, DATA, CREDIT, EOF -> {
                if (channel != null) {
                    channel.onFrame(kind, payload);
                    touch(channel);
                }
            }
            case FAIL, END -> {
                if (channel != null) {
                    // With this order, a failure leaves the channel to `lost`, so its reader does not wait for ever.
                    touch(channel);
                    channel.onEnd(kind, payload);
                    remove(number);
                }
            }
            case ARRIVED -> arrive(number, new Fields(payload).i32());
            case HELLO, PONG, WELCOME, REFUSE, PING, SHUTDOWN, OPEN, CLOSE, DETACH, SIGNAL, RESIZE, ATTACH ->
                throw new ProtocolViolation(kind + " came on channel " + Integer.toUnsignedString(number));
        }
    }

    private void remove(int number) {
        channels.remove(number);
        listeners.remove(number);
        IncomingConnections left = arrived.remove(number);
        if (left != null) {
            left.leave();
        }
    }

    /// Counts an incoming connection. The guest ends a channel before it reuses the slot, so the count is exact.
    private void arrive(int number, int listener) {
        IncomingConnections incomingConnections = listeners.get(listener);
        if (incomingConnections == null || number > 0 || channels.containsKey(number)) {
            throw new ProtocolViolation("a connection arrived on channel " + Integer.toUnsignedString(number)
                    + " for listener " + Integer.toUnsignedString(listener));
        }
        if (!incomingConnections.enter()) {
            throw new ProtocolViolation("more than " + incomingConnections.max() + " connections arrived");
        }
        arrived.put(number, incomingConnections);
        Channel channel = incomingConnections.admit(number);
        channels.put(number, channel);
        incomingConnections.serve(channel);
    }

    private void touch(Channel channel) {
        if (touched.isEmpty() || touched.getLast() != channel) {
            touched.add(channel);
        }
    }
}
