package dev.vivarium.core.guest;

import dev.vivarium.model.SandboxId;
import java.io.EOFException;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;

/// Guest that sends exactly the bytes that a test defines, over a real socket.
final class FakeGuest implements AutoCloseable {
    static final String SECRET = "the secret";
    static final long ALL_FEATURES = -1;

    final SandboxId id = SandboxId.random(new SecureRandom());
    private final SocketChannel socket;
    private final SocketChannel hostSide;

    record Frame(int channel, int kind, ByteBuffer payload) {}

    private FakeGuest(SocketChannel socket, SocketChannel hostSide) {
        this.socket = socket;
        this.hostSide = hostSide;
    }

    static FakeGuest connect() throws IOException {
        Path directory = Files.createTempDirectory("viv-fake");
        Path name = directory.resolve("s");
        var address = UnixDomainSocketAddress.of(name);
        try (var listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            listener.bind(address);
            var socket = SocketChannel.open(address);
            return new FakeGuest(socket, listener.accept());
        } finally {
            Files.deleteIfExists(name);
            Files.delete(directory);
        }
    }

    /// Returns a guest that has completed the handshake.
    static Guest connected(GuestLoop loop, FakeGuest fake) throws IOException {
        fake.send(hello(SECRET, 0));
        Guest guest = fake.handshake(loop);
        fake.receive();
        return guest;
    }

    Guest handshake(GuestLoop loop) {
        return Guest.handshake(attach(loop), SECRET, Duration.ofMinutes(1));
    }

    Connection attach(GuestLoop loop) {
        return loop.attach(id, hostSide);
    }

    static ByteBuffer hello(String secret, long survivors) {
        return helloFields(secret).u32(survivors).frame(0, Kind.HELLO);
    }

    static Payload helloFields(String secret) {
        return new Payload()
                .fixed("VIVG".getBytes(StandardCharsets.US_ASCII))
                .u16(1)
                .u64(ALL_FEATURES)
                .string(secret)
                .string("fake");
    }

    void send(ByteBuffer... frames) throws IOException {
        for (ByteBuffer frame : frames) {
            while (frame.hasRemaining()) {
                socket.write(frame);
            }
        }
    }

    void data(int channel, int stream, int length) throws IOException {
        send(new Payload().u8(stream).fixed(new byte[length]).frame(channel, Kind.DATA));
    }

    void end(int channel, Payload result) throws IOException {
        send(result.frame(channel, Kind.END));
    }

    Frame receive() throws IOException {
        ByteBuffer header = fill(ByteBuffer.allocate(Payload.HEADER));
        ByteBuffer payload = fill(ByteBuffer.allocate(header.getInt(0)));
        return new Frame(header.getInt(4), header.get(8), payload);
    }

    /// Waits until the host closes the connection.
    boolean isHungUp() throws IOException {
        try {
            while (true) {
                receive();
            }
        } catch (EOFException e) {
            return true;
        }
    }

    private ByteBuffer fill(ByteBuffer buffer) throws IOException {
        while (buffer.hasRemaining()) {
            if (socket.read(buffer) < 0) {
                throw new EOFException();
            }
        }
        return buffer.flip();
    }

    /// Closes the socket of the guest. The host owns the other socket.
    @Override
    public void close() throws IOException {
        socket.close();
    }
}
