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
    private final AtomicLong pingTokens;
    private final Notification notification;

    /// Whether this object notifies the observer of the channels that it opens.
    private enum Notification {
        EACH_CHANNEL,
        NONE
    }

    private Guest(Connection connection, Hello hello, AtomicLong pingTokens, Notification notification) {
        this.connection = connection;
        this.hello = hello;
        this.pingTokens = pingTokens;
        this.notification = notification;
    }

    /// The same guest for passive readers: channels that are opened through it do not count as use of the sandbox.
    public Guest withoutObserver() {
        return new Guest(connection, hello, pingTokens, Notification.NONE);
    }

    /// Performs the handshake with the guest on `socket`, and takes ownership of the socket. Throws if HELLO does
    /// not arrive within five seconds, or if its secret is wrong.
    public static Guest handshake(GuestLoop loop, SandboxId id, SocketChannel socket, String secret) {
        return handshake(loop.attach(id, socket), secret, TIMEOUT);
    }

    static Guest handshake(Connection connection, String secret, Duration timeout) {
        ChannelTable channelTable = connection.channelTable();
        try {
            Hello hello = read(connection, await(connection, channelTable.hello(), timeout));
            if (!hello.hasSecret(secret)) {
                throw refuse(connection, "it has another secret");
            }
            if (hello.generation() < GENERATION) {
                throw refuse(connection, "its protocol generation is older than " + GENERATION);
            }
            for (SurvivingProcess process : hello.survivors()) {
                channelTable.reserve(Channel.unread(connection, process.channel()));
            }
            connection.welcome();
            connection.send(new Payload().u16(GENERATION).frame(0, Kind.WELCOME));
            return new Guest(connection, hello, new AtomicLong(), Notification.EACH_CHANNEL);
        } catch (RuntimeException e) {
            connection.disconnect(Disconnect.Cause.BROKEN, "the handshake failed");
            throw connection.isLostByServer() ? failed(connection, e) : e;
        }
    }

    /// Failure of a handshake that the server aborted; the guest is not at fault.
    private static SandboxException failed(Connection connection, RuntimeException cause) {
        String why = connection.loss().map(Disconnect::why).orElse("");
        return new SandboxException(new Failure.ProviderFailed("connect to the guest", why), cause);
    }

    public SandboxId id() {
        return connection.id();
    }

    /// Version of the guest, as text for people.
    public String build() {
        return hello.build();
    }

    /// Processes from an earlier connection. The caller must [#detach] each of them; a kept process can also be
    /// attached with [#attach].
    public List<SurvivingProcess> survivors() {
        return hello.survivors();
    }

    /// Reports whether the guest can keep processes for the next connection.
    public boolean canKeepProcesses() {
        return hello.canKeepProcesses();
    }

    /// Attaches to a kept process of an earlier connection, once. Its channel begins with the output that the guest
    /// stored.
    public Channel attach(SurvivingProcess survivor, RequestSubject subject) {
        GuestObserver observer = observer().ofKept();
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

    /// Opens a channel. `request` has the fields of OPEN after the service and the credit. The [Cancellation] of
    /// the calling thread, if any, closes the channel.
    public Channel open(Service service, Payload request, RequestSubject subject) {
        Cancellation.checkCurrent();
        Channel channel = open(service, request, subject, observer(), _ -> {});
        Cancellation.register(channel);
        return channel;
    }

    /// Opens a channel of a process that outlives its caller.
    public Channel openKept(Service service, Payload request, RequestSubject subject) {
        return open(service, request, subject, observer().ofKept(), _ -> {});
    }

    /// Opens a channel; `prepare` receives the channel before the guest receives the request.
    private Channel open(
            Service service,
            Payload request,
            RequestSubject subject,
            GuestObserver observer,
            Consumer<Channel> prepare) {
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
        // The channel is added before `send` checks the connection, so that a loss in between ends the channel.
        Channel channel = add(service, subject, observer);
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
    /// Passes each incoming connection to `handler` in a virtual thread, and closes it when `handler` returns. At
    /// most `maxConnections` are open at a time. Fails with `ProviderFailed` if the port is in use.
    public InsideListener listen(int port, int maxConnections, Consumer<Channel> handler) {
        var incomingConnections = new IncomingConnections(connection, maxConnections, handler);
        Channel channel = open(
                Service.LISTEN,
                new Payload().u16(port).u16(maxConnections),
                new RequestSubject.Port("port " + port),
                observer(),
                // The listener is added before the request, because the first connection can arrive with the reply.
                opening -> connection.channelTable().addListener(opening.number(), incomingConnections));
        return new InsideListener(channel, channel.started(Fields::u16));
    }

    private Channel add(Service service, RequestSubject subject, GuestObserver observer) {
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
        return notification == Notification.EACH_CHANNEL ? connection.observer() : GuestObserver.NONE;
    }

    /// Sends a request without streams, and parses the reply.
    public <T> T ask(Service service, Payload request, RequestSubject subject, Function<Fields, T> parser) {
        try (Channel channel = open(service, request, subject)) {
            return channel.result(parser);
        }
    }

    /// Measures the round trip to the guest. Throws if the guest does not reply within `timeout`.
    public Duration pingWithin(Duration timeout) {
        long token = pingTokens.incrementAndGet();
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

    /// Configures the guest. Returns before the guest replies, so that the caller can do other work. Close the
    /// result.
    ///
    /// @param cpus               number of processors that later commands see; 0 for all
    /// @param orphanGraceSeconds time that the guest continues without a host; 0 for no limit. A guest of version
    ///                           0.1 ignores it
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

    public void observedBy(GuestObserver observer) {
        connection.observedBy(observer);
    }

    /// Starts to observe a command, before its start. Close the result.
    public GuestObserver.CommandWatch watchCommand() {
        return connection.observer().watchCommand();
    }

    /// Corrects the exit of a command with facts of the observer, such as an OOM kill.
    public Exit correctCause(Exit exit) {
        return connection.observer().correctCause(exit);
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
        connection.disconnect(Disconnect.Cause.CLOSED, "the connection was closed");
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
        connection.disconnect(Disconnect.Cause.VIOLATION, why);
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
