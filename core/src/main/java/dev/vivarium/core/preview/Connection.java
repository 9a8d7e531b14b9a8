package dev.vivarium.core.preview;

import dev.vivarium.core.guest.Channel;
import dev.vivarium.core.guest.Fields;
import dev.vivarium.core.guest.Guest;
import dev.vivarium.core.guest.Message;
import dev.vivarium.core.guest.Payload;
import dev.vivarium.core.guest.RequestSubject;
import dev.vivarium.core.guest.Service;
import dev.vivarium.model.Failure;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;

/// Connection to a listener inside a sandbox. One thread reads and one thread writes; any thread may call [#close].
public final class Connection implements AutoCloseable {
    private static final int TCP = 1;
    private static final int MAX_PORT = 65_535;

    private final Channel channel;
    private byte[] current = {};
    private int position;
    private boolean ended;

    private Connection(Channel channel) {
        this.channel = channel;
    }

    /// Connects to a port on the sandbox's loopback interface. Throws `ConnectionRefused` if nothing listens there.
    public static Connection dial(Guest guest, int port) {
        Failure.InvalidRequest.require(port >= 1 && port <= MAX_PORT, "port", "must be between 1 and " + MAX_PORT);
        Payload request = new Payload().u8(TCP).u16(port).string("");
        Channel channel = guest.open(Service.DIAL, request, new RequestSubject.Port("port " + port));
        channel.started(Fields::isEmpty);
        return new Connection(channel);
    }

    /// Reads at least one byte, or returns -1 when the peer has closed its output.
    public int read(byte[] buffer, int offset, int length) {
        if (position == current.length && !advance(channel::next)) {
            return -1;
        }
        int count = Math.min(length, current.length - position);
        System.arraycopy(current, position, buffer, offset, count);
        position += count;
        return count;
    }

    /// Waits until [#read] would not block. Returns false at the timeout.
    public boolean awaitReadable(Duration timeout) {
        if (position < current.length || ended) {
            return true;
        }
        Optional<Message> message = channel.next(timeout);
        message.ifPresent(found -> advance(() -> found));
        return message.isPresent();
    }

    /// Sends bytes and blocks while the peer does not read. Returns false if the peer has closed the connection.
    public boolean write(byte[] bytes, int offset, int length) {
        return channel.write(bytes, offset, length);
    }

    /// Closes the output; reading continues. Idempotent.
    public void closeOutput() {
        channel.closeInput();
    }

    /// Closes both directions. Idempotent.
    @Override
    public void close() {
        channel.close();
    }

    private boolean advance(Supplier<Message> next) {
        // After its EOF the channel may stay open for output, so it must not be read again.
        if (ended || !(next.get() instanceof Message.Data(int _, byte[] bytes))) {
            ended = true;
            return false;
        }
        current = bytes;
        position = 0;
        return true;
    }
}
