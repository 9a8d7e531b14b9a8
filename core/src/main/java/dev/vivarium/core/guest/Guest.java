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

/// The program that is init of one sandbox, as the host sees it through one connection. When the connection is lost the
/// object is of no more use; the guest connects again and is greeted as a new one. Thread-safe.
///
/// Every call on a lost guest throws `GuestUnreachable`; what the guest refuses is thrown as the fitting failure.
public final class Guest implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final int GENERATION = 1;

    private final Connection connection;
    private final Hello hello;
    private final AtomicLong tokens;
    private final Counting counting;

    /// Whether the keeper hears of what is opened here.
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

    /// The same guest for whoever only looks: what is opened through it is no use of the sandbox.
    public Guest unnoticed() {
        return new Guest(connection, hello, tokens, Counting.NONE);
    }

    /// Shakes hands with the guest that has connected to `socket`, which belongs to the result from now on. Throws
    /// when it does not say HELLO within five seconds, or has another secret.
    public static Guest greet(GuestLoop loop, SandboxId id, SocketChannel socket, String secret) {
        return greet(loop.attach(id, socket), secret, PATIENCE);
    }

    static Guest greet(Connection connection, String secret, Duration patience) {
        ChannelTable channelTable = connection.channelTable();
        try {
            Hello hello = read(connection, await(connection, channelTable.hello(), patience));
            if (!hello.knows(secret)) {
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

    /// The guest is not to blame for a handshake that the server broke off.
    private static SandboxException failed(Connection connection, RuntimeException cause) {
        String why = connection.loss().map(Disconnect::why).orElse("");
        return new SandboxException(new Failure.ProviderFailed("greet the guest", why), cause);
    }

    public SandboxId id() {
        return connection.id();
    }

    /// The version text of the guest, for people.
    public String build() {
        return hello.build();
    }

    /// Processes that the guest still has from an earlier connection. Each waits to be let go by [#detach], ended
    /// by [#kill] or, if it is kept, taken over by [#attach].
    public List<SurvivingProcess> survivors() {
        return hello.survivors();
    }

    /// Reports whether processes can be kept for the next connection.
    public boolean keeps() {
        return hello.keeps();
    }

    /// Takes over a kept process of an earlier connection, once. Its channel begins with what the guest remembers.
    public Channel attach(SurvivingProcess survivor, RequestSubject subject) {
        GuestObserver keeper = keeper();
        keeper.began(survivor.service());
        var channel = new Channel(
                connection, survivor.channel(), survivor.service(), subject, keeper, connection.reservation());
        // It takes the place of the one without a reader; before the guest is asked, nothing comes on it.
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

    /// Lets a process of an earlier connection go on alone.
    public void detach(SurvivingProcess survivor) {
        connection.send(new Payload().frame(survivor.channel(), Kind.DETACH));
    }

    /// Ends a process of an earlier connection, with its descendants.
    public void kill(SurvivingProcess survivor) {
        connection.send(new Payload().frame(survivor.channel(), Kind.CLOSE));
    }

    /// Opens a channel; the request is what follows the credit in the specification. The channel ends with the
    /// [Cancellation] of the calling thread, if there is one.
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

    /// The same; `prepare` sees the channel before the guest does.
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
        // First added, then checked (by send): a loss in between finds the channel.
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

    /// Has the guest listen on its loopback, on `port` or, if that is 0, on one of the kernel's choice. Each
    /// connection that comes is given to `taker`, in a worker of its own, and closed when that returns; there are
    /// never more than `most` at a time. Fails with `ProviderFailed` when the port is taken.
    public InsideListener listen(int port, int most, Consumer<Channel> taker) {
        var incomingConnections = new IncomingConnections(connection, most, taker);
        Channel channel = open(
                Service.LISTEN,
                new Payload().u16(port).u16(most),
                new RequestSubject.Port("port " + port),
                // Before the guest is asked: the first connection may come with its answer.
                opening -> connection.channelTable().hang(opening.number(), incomingConnections));
        try {
            return new InsideListener(channel, channel.started(Fields::u16));
        } catch (RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    private Channel add(Service service, RequestSubject subject) {
        GuestObserver keeper = keeper();
        keeper.began(service);
        var memory = connection.reservation();
        try {
            if (service.streams > 0 && service != Service.WATCH) {
                memory.add((long) service.streams * service.initialWindow());
            }
            return connection
                    .channelTable()
                    .add(number -> new Channel(connection, number, service, subject, keeper, memory));
        } catch (RuntimeException e) {
            memory.close();
            keeper.ended(service);
            throw e;
        }
    }

    private GuestObserver keeper() {
        return counting == Counting.EACH_CHANNEL ? connection.keeper() : GuestObserver.NONE;
    }

    /// Asks something that has no streams, and reads the answer.
    public <T> T ask(Service service, Payload request, RequestSubject subject, Function<Fields, T> shape) {
        try (Channel channel = open(service, request, subject)) {
            return channel.result(shape);
        }
    }

    /// Measures the round trip to the guest. Throws after five seconds without a reply.
    public Duration ping() {
        return pingWithin(PATIENCE);
    }

    /// The same with another time limit.
    public Duration pingWithin(Duration patience) {
        long token = tokens.incrementAndGet();
        long began = System.nanoTime();
        var pong = connection.channelTable().expectPong(token);
        try {
            var frame = new Payload().u64(token).frame(0, Kind.PING);
            if (!connection.offerWithin(patience.toNanos(), frame)) {
                throw connection.unreachable("it does not read");
            }
            return Duration.ofNanos(await(connection, pong, patience) - began);
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

    /// Sets how many processors later commands may see, 0 for all, and for how many seconds the guest goes on
    /// without a host, 0 for ever. A guest of 0.1 ignores the second number. Returns before the guest replies, for
    /// a caller that has other things to do meanwhile. Close the result.
    public Setup startSetup(int cpus, long orphanGraceSeconds) {
        var request = new Payload().u32(cpus).u32((int) orphanGraceSeconds);
        return new Setup(open(Service.SETUP, request, new RequestSubject.Machine()));
    }

    /// A setup that the guest has not confirmed yet. Confined to the thread that asked.
    public final class Setup implements AutoCloseable {
        private final Channel channel;

        private Setup(Channel channel) {
            this.channel = channel;
        }

        /// Waits for the reply. Throws if the guest does not reply within five seconds.
        public void await() {
            if (channel.next(PATIENCE).isEmpty()) {
                throw connection.unreachable("it does not answer");
            }
            boolean _ = channel.result(Fields::isEmpty);
        }

        @Override
        public void close() {
            channel.close();
        }
    }

    /// Has the guest kill every process and exit. Returns before it has.
    public void shutdown() {
        connection.send(new Payload().frame(0, Kind.SHUTDOWN));
    }

    /// Has `keeper` answer for this guest from now on.
    public void keptBy(GuestObserver keeper) {
        connection.keptBy(keeper);
    }

    /// How a command really ended, by the word of the keeper.
    public Exit explain(Exit exit) {
        return connection.keeper().explain(exit);
    }

    public boolean isOpen() {
        return connection.loss().isEmpty();
    }

    /// Why the connection is no more, if it is.
    public Optional<Disconnect> loss() {
        return connection.loss();
    }

    /// Runs `listener` once, on a virtual thread of its own, when the connection is lost or closed; at once
    /// if it is
    /// already.
    public void onLost(Runnable listener) {
        connection.onLost(listener);
    }

    /// Ends the connection; the guest and its processes go on, and it connects again. Idempotent.
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

    private static <T> T await(Connection connection, CompletableFuture<T> answer, Duration patience) {
        try {
            return answer.get(patience.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw connection.unreachable("no answer within " + patience.toSeconds() + " s");
        } catch (ExecutionException e) {
            throw connection.unreachable();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw connection.unreachable("the wait for it was interrupted");
        }
    }
}
