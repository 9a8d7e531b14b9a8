package dev.vivarium.core.preview;

import dev.vivarium.core.guest.Channel;
import dev.vivarium.core.guest.Fields;
import dev.vivarium.core.guest.Guest;
import dev.vivarium.core.guest.Message;
import dev.vivarium.core.guest.Payload;
import dev.vivarium.core.guest.RequestSubject;
import dev.vivarium.core.guest.Service;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;

/// A connection to something that listens inside a sandbox. For one reader and one writer at a time; [#close] may be
/// called by anybody.
public final class Connection implements AutoCloseable {
    private static final int TCP = 1;
    private static final int UNIX = 2;
    private static final int MAX_PORT = 65_535;

    private final Channel channel;
    private byte[] current = {};
    private int position;
    private boolean ended;

    private Connection(Channel channel) {
        this.channel = channel;
    }

    /// Connects to a port on the sandbox's own loopback. Throws `ConnectionRefused` when nothing listens there.
    public static Connection dial(Guest guest, int port) {
        if (port < 1 || port > MAX_PORT) {
            throw new SandboxException(new Failure.InvalidRequest("port", "must be between 1 and " + MAX_PORT));
        }
        return dial(guest, new Payload().u8(TCP).u16(port).string(""), "port " + port);
    }

    /// Connects to a unix socket; `path` is absolute inside the sandbox.
    public static Connection dial(Guest guest, String path) {
        return dial(guest, new Payload().u8(UNIX).u16(0).string(path), path);
    }

    private static Connection dial(Guest guest, Payload request, String target) {
        Channel channel = guest.open(Service.DIAL, request, new RequestSubject.Port(target));
        try {
            channel.started(Fields::isEmpty);
            return new Connection(channel);
        } catch (RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    /// Reads at least one byte, or returns -1 when the other side sends nothing more.
    public int read(byte[] buffer, int offset, int length) {
        if (position == current.length && !advance(channel::next)) {
            return -1;
        }
        int count = Math.min(length, current.length - position);
        System.arraycopy(current, position, buffer, offset, count);
        position += count;
        return count;
    }

    /// Waits until [#read] would not wait. Reports whether that was within `patience`.
    public boolean awaitReadable(Duration patience) {
        if (position < current.length || ended) {
            return true;
        }
        Optional<Message> message = channel.next(patience);
        message.ifPresent(found -> advance(() -> found));
        return message.isPresent();
    }

    /// Sends bytes and waits while the other side does not read. Reports whether it was still there to take
    /// them.
    public boolean write(byte[] bytes, int offset, int length) {
        return channel.write(bytes, offset, length);
    }

    /// Says that nothing more will be written; reading goes on. Idempotent.
    public void closeOutput() {
        channel.closeInput();
    }

    /// Ends the connection both ways. Idempotent.
    @Override
    public void close() {
        channel.close();
    }

    private boolean advance(Supplier<Message> next) {
        // After its EOF the channel itself may live on for our own bytes, so it must not be asked again.
        if (ended || !(next.get() instanceof Message.Data(int _, byte[] bytes))) {
            ended = true;
            return false;
        }
        current = bytes;
        position = 0;
        return true;
    }
}
