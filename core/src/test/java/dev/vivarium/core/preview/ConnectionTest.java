package dev.vivarium.core.preview;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.vivarium.core.guest.RealGuest;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
final class ConnectionTest {
    private static RealGuest real;

    @BeforeAll
    static void start() {
        real = RealGuest.start();
    }

    @AfterAll
    static void stop() {
        real.close();
    }

    @Test
    void portConnectionCopiesBothDirections() throws Exception {
        var loopback = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        try (var listener = echo(ServerSocketChannel.open(), loopback)) {
            int port = ((InetSocketAddress) listener.getLocalAddress()).getPort();
            try (Connection connection = Connection.dial(real.guest(), port)) {
                assertEchoes(connection);
            }
        }
    }

    @Test
    void closedPortIsReportedAsRefused() throws IOException {
        int free;
        try (var listener = ServerSocketChannel.open()) {
            listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            free = ((InetSocketAddress) listener.getLocalAddress()).getPort();
        }
        assertThatThrownBy(() -> Connection.dial(real.guest(), free))
                .isInstanceOfSatisfying(
                        SandboxException.class,
                        e -> assertThat(e.failure()).isEqualTo(new Failure.ConnectionRefused("port " + free)));
    }

    @Test
    void portOutOfRangeIsInvalid() {
        assertThatThrownBy(() -> Connection.dial(real.guest(), 65_536))
                .isInstanceOfSatisfying(
                        SandboxException.class,
                        e -> assertThat(e.failure()).isInstanceOf(Failure.InvalidRequest.class));
    }

    private static void assertEchoes(Connection connection) throws InterruptedException {
        var data = new byte[3_000_000];
        new Random(7).nextBytes(data);
        Thread writer = Thread.ofVirtual().start(() -> {
            connection.write(data, 0, data.length);
            connection.closeOutput();
        });
        var received = new ByteArrayOutputStream();
        var buffer = new byte[10_000];
        for (int count; (count = connection.read(buffer, 0, buffer.length)) >= 0; ) {
            received.write(buffer, 0, count);
        }
        writer.join();
        assertThat(received.toByteArray()).isEqualTo(data);
        assertThat(connection.read(buffer, 0, 1)).isEqualTo(-1);
    }

    /// Binds a listener that echoes the input of its first connection.
    private static ServerSocketChannel echo(ServerSocketChannel listener, SocketAddress address) throws IOException {
        listener.bind(address);
        Thread.ofVirtual().start(() -> {
            try (SocketChannel caller = listener.accept()) {
                var buffer = ByteBuffer.allocate(65_536);
                while (caller.read(buffer.clear()) >= 0) {
                    buffer.flip();
                    while (buffer.hasRemaining()) {
                        caller.write(buffer);
                    }
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        return listener;
    }
}
