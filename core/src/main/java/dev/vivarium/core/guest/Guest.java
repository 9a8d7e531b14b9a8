package dev.vivarium.core.guest;

import dev.vivarium.model.Exit;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;

/// The init program of one sandbox, seen through one connection. Thread-safe.
///
/// After the loss of the connection, the object is unusable, and the guest reconnects as a new object. Every call on a
/// lost guest throws `GuestUnreachable`. If the guest refuses a request, the call throws the matching failure.
public final class Guest implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofSeconds(5);
    private static final int GENERATION = 1;

    private final Connection connection;
    private final Hello hello;
    private final AtomicLong tokens;
    private final Counting counting;

    /// Whether the observer is notified of channels that are opened here.
    private enum Counting {
        EACH_CHANNEL,
        NONE
    }

    private Guest(Connection connection, Hello hello, AtomicLong tokens, Counting counting) {
        this.connection = connection;
        this.hello = hello;
        this.tokens = tokens;
        this.counting = counting;
    }

    /// The same guest for passive readers: channels that are opened through it do not count as use of the sandbox.
    public Guest unnoticed() {
        return new Guest(connection, hello, tokens, Counting.NONE);
    }

    /// Performs the handshake with the guest on `socket`, and takes ownership of the socket. Throws if HELLO does
    /// not arrive within five seconds, or if its secret is wrong.
    public static Guest greet(GuestLoop loop, SandboxId id, SocketChannel socket, String secret) {
        return greet(loop.attach(id, socket), secret, TIMEOUT);
    }

    static Guest greet(Connection connection, String secret, Duration timeout) {
        ChannelTable channelTable = connection.channelTable();
        try {
            Hello hello = read(connection, await(connection, channelTable.hello(), timeout));
            if (!hello.hasSecret(secret)) {
                throw refuse(connection, "it has another secret");
            }
            if (hello.generation() < GENERATION) {
                throw refuse(connection, "it speaks no generation that the host speaks");
            }
            for (SurvivingProcess process : hello.survivors()) {
                channelTable.reserve(Channel.unread(connection, process.channel()));
            }
            connection.welcome();
            connection.send(new Payload().u16(GENERATION).frame(0, Kind.WELCOME));
            return new Guest(connection, hello, new AtomicLong(), Counting.EACH_CHANNEL);
        } catch (RuntimeException e) {
            connection.lose(Disconnect.Cause.BROKEN, "the handshake failed");
            throw connection.isLostByServer() ? failed(connection, e) : e;
        }
    }

    /// Failure of a handshake that the server aborted; the guest is not at fault.
    private static SandboxException failed(Connection connection, RuntimeException cause) {
        String why = connection.loss().map(Disconnect::why).orElse("");
        return new SandboxException(new Failure.ProviderFailed("greet the guest", why), cause);
    }

    public SandboxId id() {
        return connection.id();
    }

    /// Version of the guest, as text for people.
    public String build() {
        return hello.build();
    }

    /// Processes from an earlier connection. Each waits for [#detach], for [#kill] or, if it is kept, for
    /// [#attach].
    public List<SurvivingProcess> survivors() {
        return hello.survivors();
    }

    /// Reports whether the guest can keep processes for the next connection.
    public boolean keeps() {
        return hello.keeps();
    }

    /// Attaches to a kept process of an earlier connection, once. Its channel begins with the output that the guest
    /// stored.
    public Channel attach(SurvivingProcess survivor, RequestSubject subject) {
        GuestObserver observer = observer();
        observer.began(survivor.service());
        var channel = new Channel(
                connection, survivor.channel(), survivor.service(), subject, observer, connection.reservation());
        // Replaces the channel without a reader. The guest sends nothing on it before the request.
        connection.channelTable().reserve(channel);
        try {
            connection.send(
                    new Payload().u32(survivor.service().initialWindow()).frame(survivor.channel(), Kind.ATTACH));
        } catch (SandboxException e) {
            channel.onLost(e.failure());
            channel.close();
            throw e;
        }
        return channel;
    }

    /// Detaches a process of an earlier connection. The process continues.
    public void detach(SurvivingProcess survivor) {
        connection.send(new Payload().frame(survivor.channel(), Kind.DETACH));
    }

    /// Kills a process of an earlier connection and its descendants.
    public void kill(SurvivingProcess survivor) {
        connection.send(new Payload().frame(survivor.channel(), Kind.CLOSE));
    }

    /// Opens a channel. In the specification, `request` follows the credit. The [Cancellation] of the calling
    /// thread, if any, closes the channel.
    public Channel open(Service service, Payload request, RequestSubject subject) {
        Cancellation.checkCurrent();
        Channel channel = openKept(service, request, subject);
        Cancellation.register(channel);
        return channel;
    }

    /// Opens a channel that outlives its caller.
    public Channel openKept(Service service, Payload request, RequestSubject subject) {
        return open(service, request, subject, _ -> {});
    }

    /// Opens a channel; `prepare` receives the channel before the guest receives the request.
    private Channel open(Service service, Payload request, RequestSubject subject, Consumer<Channel> prepare) {
        if (!hello.offers(service)) {
            String feature = service.name().toLowerCase(Locale.ROOT);
            throw new SandboxException(new Failure.Unsupported(
                    feature, "the guest of this sandbox, " + build() + ", has no such service"));
        }
        Payload open = new Payload().u8(service.code);
        if (service.window > 0) {
            open.u32(service.initialWindow());
        }
        open.append(request);
        // First add, then check (in send), so a loss in between ends the channel.
        Channel channel = add(service, subject);
        prepare.accept(channel);
        try {
            connection.send(open.frame(channel.number(), Kind.OPEN));
        } catch (SandboxException e) {
            channel.onLost(e.failure());
            channel.close();
            throw e;
        }
        return channel;
    }

    /// Listens on the loopback of the guest, on `port` or, if `port` is 0, on a port that the kernel selects.
    /// Passes each incoming connection to `taker` in a virtual thread, and closes it when `taker` returns. At most
    /// `most` connections are open at a time. Fails with `ProviderFailed` if the port is in use.
    public InsideListener listen(int port, int most, Consumer<Channel> taker) {
        var incomingConnections = new IncomingConnections(connection, most, taker);
        Channel channel = open(
                Service.LISTEN,
                new Payload().u16(port).u16(most),
                new RequestSubject.Port("port " + port),
                // Before the request, because the first connection can arrive together with the reply.
                opening -> connection.channelTable().addListener(opening.number(), incomingConnections));
        try {
            return new InsideListener(channel, channel.started(Fields::u16));
        } catch (RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    private Channel add(Service service, RequestSubject subject) {
        GuestObserver observer = observer();
        observer.began(service);
        var memory = connection.reservation();
        try {
            if (service.streams > 0 && service != Service.WATCH) {
                memory.add((long) service.streams * service.initialWindow());
            }
            return connection
                    .channelTable()
                    .add(number -> new Channel(connection, number, service, subject, observer, memory));
        } catch (RuntimeException e) {
            memory.close();
            observer.ended(service);
            throw e;
        }
    }

    private GuestObserver observer() {
        return counting == Counting.EACH_CHANNEL ? connection.observer() : GuestObserver.NONE;
    }

    /// Sends a request without streams, and parses the reply.
    public <T> T ask(Service service, Payload request, RequestSubject subject, Function<Fields, T> shape) {
        try (Channel channel = open(service, request, subject)) {
            return channel.result(shape);
        }
    }

    /// Measures the round trip to the guest. Throws after five seconds without a reply.
    public Duration ping() {
        return pingWithin(TIMEOUT);
    }

    /// Like [#ping()], with another time limit.
    public Duration pingWithin(Duration timeout) {
        long token = tokens.incrementAndGet();
        long began = System.nanoTime();
        var pong = connection.channelTable().expectPong(token);
        try {
            var frame = new Payload().u64(token).frame(0, Kind.PING);
            if (!connection.offerWithin(timeout.toNanos(), frame)) {
                throw connection.unreachable("it does not read");
            }
            return Duration.ofNanos(await(connection, pong, timeout) - began);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw connection.unreachable("the wait for it was interrupted");
        } finally {
            connection.channelTable().forgetPong(token);
        }
    }

    public GuestStats stats() {
        return ask(Service.STATS, new Payload(), new RequestSubject.Machine(), GuestStats::read);
    }

    /// Sets the number of processors that later commands see, 0 for all, and the seconds that the guest continues
    /// without a host, 0 for ever. A guest of version 0.1 ignores the second number. Returns before the guest
    /// replies, so that the caller can do other work. Close the result.
    public Setup startSetup(int cpus, long orphanGraceSeconds) {
        var request = new Payload().u32(cpus).u32((int) orphanGraceSeconds);
        return new Setup(open(Service.SETUP, request, new RequestSubject.Machine()));
    }

    /// A setup that the guest has not confirmed yet. Confined to the thread that started it.
    public final class Setup implements AutoCloseable {
        private final Channel channel;

        private Setup(Channel channel) {
            this.channel = channel;
        }

        /// Waits for the reply. Throws if the guest does not reply within five seconds.
        public void await() {
            if (channel.next(TIMEOUT).isEmpty()) {
                throw connection.unreachable("it does not answer");
            }
            boolean _ = channel.result(Fields::isEmpty);
        }

        @Override
        public void close() {
            channel.close();
        }
    }

    /// Requests that the guest kills every process and exits. Does not wait for the exit.
    public void shutdown() {
        connection.send(new Payload().frame(0, Kind.SHUTDOWN));
    }

    /// Sets the observer of this guest.
    public void observedBy(GuestObserver observer) {
        connection.observedBy(observer);
    }

    /// Final exit of a command, corrected by the observer.
    public Exit explain(Exit exit) {
        return connection.observer().explain(exit);
    }

    public boolean isOpen() {
        return connection.loss().isEmpty();
    }

    /// Reason of the disconnect, if the connection is lost.
    public Optional<Disconnect> loss() {
        return connection.loss();
    }

    /// Runs `listener` once, in a new virtual thread, when the connection is lost or closed; at once if it already
    /// is.
    public void onLost(Runnable listener) {
        connection.onLost(listener);
    }

    /// Closes the connection. The guest and its processes continue, and the guest reconnects. Idempotent.
    @Override
    public void close() {
        connection.lose(Disconnect.Cause.CLOSED, "the connection was closed");
    }

    private static Hello read(Connection connection, Fields fields) {
        try {
            return Hello.read(fields);
        } catch (ProtocolViolation e) {
            throw connection.violated(e);
        }
    }

    private static SandboxException refuse(Connection connection, String why) {
        connection.offer(new Payload().string(why).frame(0, Kind.REFUSE));
        connection.lose(Disconnect.Cause.VIOLATION, why);
        return connection.unreachable();
    }

    private static <T> T await(Connection connection, CompletableFuture<T> answer, Duration timeout) {
        try {
            return answer.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw connection.unreachable("no answer within " + timeout.toSeconds() + " s");
        } catch (ExecutionException e) {
            throw connection.unreachable();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw connection.unreachable("the wait for it was interrupted");
        }
    }
}
