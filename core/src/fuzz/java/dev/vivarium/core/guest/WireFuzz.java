package dev.vivarium.core.guest;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.vivarium.model.SandboxId;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.security.SecureRandom;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/// Bytes of a guest are valid frames, or cause a `ProtocolViolation`. They cause no other exception.
final class WireFuzz {
    private static final ByteBuffer BUFFER = ByteBuffer.allocate(FrameReader.MAX_REST + GuestLoop.READ);

    private static GuestLoop loop;
    private static Connection connection;

    @BeforeAll
    static void start() throws IOException {
        loop = GuestLoop.start();
        var id = SandboxId.random(new SecureRandom());
        connection = new Connection(loop, id, SocketChannel.open(StandardProtocolFamily.UNIX));
        // The responses of the host are discarded.
        connection.disconnect(Disconnect.Cause.CLOSED, "only its frames are wanted");
    }

    @AfterAll
    static void stop() {
        connection.disconnect(Disconnect.Cause.CLOSED, "done");
        loop.close();
    }

    @FuzzTest(maxDuration = "2m")
    void anyBytesAreUnderstoodOrRefused(byte[] bytes) {
        try {
            feed(bytes);
        } catch (ProtocolViolation e) {
            // The documented outcome.
        }
    }

    /// The first byte says whether the guest was welcomed, the second where the rest is cut in two.
    private static void feed(byte[] bytes) {
        if (bytes.length < 3) {
            return;
        }
        var reader = new FrameReader();
        var channelTable = new ChannelTable(connection.id());
        if (bytes[0] != 0) {
            reader.allowFullFrames();
            channelTable.welcome();
        }
        for (Service service : Service.values()) {
            var subject = new RequestSubject.File("file");
            channelTable.add(number -> new Channel(
                    connection, number, service, subject, GuestObserver.NONE, connection.reservation()));
        }
        channelTable.addListener(1, new IncomingConnections(connection, 2, _ -> {}));
        int cut = 2 + Byte.toUnsignedInt(bytes[1]) % (bytes.length - 2);
        read(reader, channelTable, bytes, 2, cut);
        read(reader, channelTable, bytes, cut, bytes.length);
        if (channelTable.hello().isDone()) {
            Hello.read(channelTable.hello().join());
        }
    }

    private static void read(FrameReader reader, ChannelTable channelTable, byte[] bytes, int from, int to) {
        BUFFER.clear();
        reader.restore(BUFFER);
        BUFFER.put(bytes, from, to - from).flip();
        reader.read(BUFFER, channelTable);
        channelTable.wake();
    }
}
