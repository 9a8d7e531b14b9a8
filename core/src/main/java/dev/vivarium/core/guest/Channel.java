package dev.vivarium.core.guest;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.vivarium.core.ByteBudget;
import dev.vivarium.core.LoopBudget;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// One request to a guest, with its streams. Thread-safe, for one reader and one writer at a time.
///
/// The reader pulls. Bytes that the reader does not take return no credit, so the guest stops sending on this channel
/// only. In the same way, the writer waits for credit from the guest.
public final class Channel implements AutoCloseable {
    /// Number of the stream to the guest.
    private static final int INPUT = 0;

    private static final int MAX_DATA = 65_536;
    private static final int INITIAL_INPUT_CREDIT = 262_144;
    private static final int DATA_HEADER = Payload.HEADER + 1;
    private static final long FOREVER = Long.MAX_VALUE;
    private static final Duration ALWAYS = Duration.ofNanos(FOREVER);

    private final Connection connection;
    private final int number;
    private final Service service;
    private final RequestSubject subject;
    private final GuestObserver observer;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Condition inputRoom = lock.newCondition();

    /// Confined to the reader.
    private final LoopBudget reading = new LoopBudget();

    /// Confined to the writer.
    private final LoopBudget writing = new LoopBudget();

    @GuardedBy("lock")
    private final ReceiveQueue inbox = new ReceiveQueue();

    @GuardedBy("lock")
    private final ReceiveWindow window;

    @GuardedBy("lock")
    private long inputCredit = INITIAL_INPUT_CREDIT;

    @GuardedBy("lock")
    private boolean inputClosed;

    @GuardedBy("lock")
    private boolean wanted = true;

    @GuardedBy("lock")
    private @Nullable Fields started;

    @GuardedBy("lock")
    private @Nullable ChannelEnd ending;

    /// `memory` holds the reservation for the first window of each stream; the channel releases it.
    Channel(
            Connection connection,
            int number,
            Service service,
            RequestSubject subject,
            GuestObserver observer,
            ByteBudget.Reservation memory) {
        this.connection = connection;
        this.number = number;
        this.service = service;
        this.subject = subject;
        this.observer = observer;
        this.window = new ReceiveWindow(service, memory);
    }

    /// Waits until the guest starts the request, and parses its first reply. Closes the channel if this fails.
    public <T> T started(Function<Fields, T> shape) {
        try {
            return parse(awaitStarted(), shape);
        } catch (RuntimeException e) {
            RuntimeException failed = e instanceof SandboxException known ? connection.diagnosed(known) : e;
            close();
            throw failed;
        }
    }

    private Fields awaitStarted() {
        Fields fields;
        lock.lock();
        try {
            while (started == null && ending == null) {
                await(changed, FOREVER);
            }
            if (started == null && ending instanceof ChannelEnd.Failed(Failure failure)) {
                throw new SandboxException(failure);
            }
            fields = started;
        } finally {
            lock.unlock();
        }
        if (fields == null) {
            throw connection.violated(new ProtocolViolation("a channel ended before it started"));
        }
        return fields;
    }

    /// Waits for the next message. After [Message.Ended], every call returns `Ended`. If the guest failed, throws
    /// its failure after all earlier messages.
    public Message next() {
        return next(ALWAYS).orElseThrow();
    }

    /// Like [#next()], with a time limit. Returns an empty value on timeout.
    public Optional<Message> next(Duration timeout) {
        try {
            return Optional.ofNullable(take(timeout.toNanos()));
        } catch (SandboxException e) {
            throw connection.diagnosed(e);
        }
    }

    private @Nullable Message take(long nanos) {
        Message message;
        int stream = 0;
        int credit = 0;
        lock.lock();
        try {
            while ((message = inbox.poll()) == null) {
                if (ending != null) {
                    window.release();
                    return ending.message();
                }
                if (nanos <= 0) {
                    return null;
                }
                reading.blocks();
                nanos = await(changed, nanos);
            }
            if (message instanceof Message.Data(int from, byte[] bytes)) {
                stream = from;
                credit = ending == null ? window.taken(from, bytes.length) : 0;
            }
        } finally {
            lock.unlock();
        }
        // Before the credit is sent. Otherwise, readers over their budget queue for the connection.
        reading.spend(message instanceof Message.Data(int _, byte[] bytes) ? bytes.length : 0);
        if (credit > 0) {
            connection.offer(new Payload().u8(stream).u32(credit).frame(number, Kind.CREDIT));
        }
        return message;
    }

    /// Waits for the end, discards the messages before it, and parses the result of the guest.
    public <T> T result(Function<Fields, T> shape) {
        while (!(next() instanceof Message.Ended)) {
            // Discards the message.
        }
        return parse(resultFields(), shape);
    }

    private Fields resultFields() {
        lock.lock();
        try {
            if (ending instanceof ChannelEnd.Result(Fields fields)) {
                return fields;
            }
            throw new IllegalStateException("ended without a result");
        } finally {
            lock.unlock();
        }
    }

    /// Parses the `bytes` of a message. Malformed bytes are a protocol violation.
    public <T> T parse(byte[] bytes, Function<Fields, T> shape) {
        return parse(new Fields(ByteBuffer.wrap(bytes)), shape);
    }

    /// Sends bytes as fast as the guest returns credit. Returns false if the channel ended before all bytes were
    /// sent. Throws if the connection is lost.
    public boolean write(byte[] bytes, int offset, int length) {
        int sent = 0;
        while (sent < length) {
            int portion = awaitInputCredit(Math.min(length - sent, MAX_DATA));
            if (portion == 0) {
                return false;
            }
            ByteBuffer header = ByteBuffer.allocate(DATA_HEADER);
            Payload.header(header, number, Kind.DATA, 1 + portion).put(Payload.HEADER, (byte) INPUT);
            connection.send(header, ByteBuffer.wrap(bytes, offset + sent, portion));
            observer.transferred();
            sent += portion;
            writing.spend(portion);
        }
        return true;
    }

    /// Sends the end of the input. Idempotent.
    public void closeInput() {
        lock.lock();
        try {
            if (inputClosed || ending != null) {
                return;
            }
            inputClosed = true;
        } finally {
            lock.unlock();
        }
        connection.send(new Payload().u8(INPUT).frame(number, Kind.EOF));
    }

    public void signal(int signal, boolean wholeTree) {
        connection.send(new Payload().u8(signal).u8(wholeTree ? 1 : 0).frame(number, Kind.SIGNAL));
    }

    public void resize(int columns, int rows) {
        connection.send(new Payload().u16(columns).u16(rows).frame(number, Kind.RESIZE));
    }

    /// Detaches the process from this channel and ends the channel. The process continues.
    public void detach() {
        connection.send(new Payload().frame(number, Kind.DETACH));
    }

    /// Cancels the request unless the channel has ended: the guest stops its work. Does not block. Idempotent.
    @Override
    public void close() {
        lock.lock();
        try {
            boolean running = wanted && ending == null;
            forgetLocked();
            if (!running) {
                return;
            }
        } finally {
            lock.unlock();
        }
        connection.offer(new Payload().frame(number, Kind.CLOSE));
    }

    /// Like [#close()], and also ends the channel for its reader and writer, because a frozen guest sends no end.
    public void abandon() {
        abandon(ChannelEnd.withoutReader());
    }

    void abandon(ChannelEnd how) {
        if (end(how)) {
            forget();
            wake();
            connection.offer(new Payload().frame(number, Kind.CLOSE));
        }
    }

    int number() {
        return number;
    }

    /// A channel of an earlier connection. It has no reader, and its messages are dropped.
    static Channel unread(Connection connection, int number) {
        var memory = connection.reservation();
        var channel =
                new Channel(connection, number, Service.EXEC, new RequestSubject.Machine(), GuestObserver.NONE, memory);
        channel.forget();
        return channel;
    }

    private void forget() {
        lock.lock();
        try {
            forgetLocked();
        } finally {
            lock.unlock();
        }
    }

    void onFrame(Kind kind, ByteBuffer payload) {
        var fields = new Fields(payload);
        lock.lock();
        try {
            switch (kind) {
                case STARTED -> started = started == null ? Fields.copyOf(payload) : started;
                case DATA -> dataLocked(fields.u8(), payload);
                case CREDIT -> inputCredit += fields.u8() == INPUT ? fields.u32() : 0;
                case EOF -> eofLocked(fields.u8());
                default -> throw new IllegalArgumentException(kind + " is not for a channel that goes on");
            }
        } finally {
            lock.unlock();
        }
    }

    void onEnd(Kind kind, ByteBuffer payload) {
        ChannelEnd known = kind == Kind.END
                ? new ChannelEnd.Result(Fields.copyOf(payload))
                : new ChannelEnd.Failed(GuestError.read(new Fields(payload)).about(subject, connection.id()));
        end(known);
    }

    void onLost(Failure failure) {
        end(new ChannelEnd.Failed(failure));
    }

    /// Unparks the waiting reader and writer.
    void wake() {
        lock.lock();
        try {
            changed.signalAll();
            inputRoom.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /// Returns true if this call ended the channel.
    private boolean end(ChannelEnd how) {
        lock.lock();
        try {
            if (ending != null) {
                return false;
            }
            ending = how;
        } finally {
            lock.unlock();
        }
        observer.ended(service);
        return true;
    }

    boolean hasEnded() {
        lock.lock();
        try {
            return ending != null;
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock")
    private void dataLocked(int stream, ByteBuffer data) {
        if (!data.hasRemaining() || data.remaining() > MAX_DATA) {
            throw new ProtocolViolation("a DATA frame holds " + data.remaining() + " bytes");
        }
        if (!wanted) {
            return;
        }
        observer.transferred();
        window.arrived(stream, data.remaining());
        inbox.add(stream, data);
    }

    @GuardedBy("lock")
    private void eofLocked(int stream) {
        if (wanted && window.ended(stream)) {
            inbox.addEof(stream);
        }
    }

    private int awaitInputCredit(int max) {
        lock.lock();
        try {
            while (inputCredit == 0 && ending == null) {
                writing.blocks();
                await(inputRoom, FOREVER);
            }
            if (inputClosed) {
                throw new IllegalStateException("the input is closed");
            }
            if (ending != null) {
                ending.requireReachable();
                return 0;
            }
            int portion = (int) Math.min(inputCredit, max);
            inputCredit -= portion;
            return portion;
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock")
    private void forgetLocked() {
        wanted = false;
        inbox.clear();
        window.release();
    }

    private <T> T parse(Fields fields, Function<Fields, T> shape) {
        try {
            return shape.apply(fields);
        } catch (ProtocolViolation e) {
            throw connection.violated(e);
        }
    }

    @GuardedBy("lock")
    private long await(Condition condition, long nanos) {
        try {
            if (nanos != FOREVER) {
                return condition.awaitNanos(nanos);
            }
            condition.await();
            return FOREVER;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw connection.unreachable("the wait for it was interrupted");
        }
    }
}
