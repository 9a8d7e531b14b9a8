package dev.vivarium.testing;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/// HTTP/2 connection in the clear, with prior knowledge, on which a test sends single frames. Confined to one thread.
final class RawHttp2 implements AutoCloseable {
    static final int DATA = 0;
    static final int HEADERS = 1;
    static final int SETTINGS = 4;
    static final int END_STREAM = 1;
    static final int END_HEADERS = 4;

    private final Socket socket;
    private final DataInputStream in;

    record Frame(int type, int flags, int stream, byte[] payload) {}

    /// Connects and sends the preface and empty settings.
    RawHttp2(URI server) throws IOException {
        this.socket = new Socket(server.getHost(), server.getPort());
        socket.setTcpNoDelay(true);
        this.in = new DataInputStream(socket.getInputStream());
        socket.getOutputStream().write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        send(SETTINGS, 0, 0, new byte[0]);
    }

    void send(int type, int flags, int stream, byte[] payload) throws IOException {
        var frame = ByteBuffer.allocate(9 + payload.length);
        frame.put((byte) (payload.length >> 16)).putShort((short) payload.length);
        frame.put((byte) type).put((byte) flags).putInt(stream).put(payload);
        socket.getOutputStream().write(frame.array());
    }

    /// Sends the head of a request. `headers` are names and values in alternation.
    void request(int stream, int flags, String method, String path, String... headers) throws IOException {
        var block = new ByteArrayOutputStream();
        literal(block, ":method", method);
        literal(block, ":scheme", "http");
        literal(block, ":path", path);
        literal(block, ":authority", "localhost");
        for (int i = 0; i < headers.length; i += 2) {
            literal(block, headers[i], headers[i + 1]);
        }
        send(HEADERS, flags | END_HEADERS, stream, block.toByteArray());
    }

    /// HPACK: literal without indexing, name and value shorter than 127 bytes.
    private static void literal(ByteArrayOutputStream block, String name, String value) {
        block.write(0);
        block.write(name.length());
        block.writeBytes(name.getBytes(StandardCharsets.US_ASCII));
        block.write(value.length());
        block.writeBytes(value.getBytes(StandardCharsets.US_ASCII));
    }

    /// Returns the next frame. Throws at the end of the connection.
    Frame next() throws IOException {
        int length = in.readUnsignedByte() << 16 | in.readUnsignedShort();
        int type = in.readUnsignedByte();
        int flags = in.readUnsignedByte();
        int stream = in.readInt();
        return new Frame(type, flags, stream, in.readNBytes(length));
    }

    Frame await(int type) throws IOException {
        Frame frame = next();
        while (frame.type() != type) {
            frame = next();
        }
        return frame;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
