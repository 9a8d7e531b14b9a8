package dev.vivarium.bench;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/// WebSocket on one blocking socket. Confined to one worker that reads and one that writes.
///
/// It has no client library, so that measurements cover only the server.
final class WebSocket implements AutoCloseable {
    private static final int FINAL_TEXT = 0x81;
    private static final int CLOSE = 0x88;
    private static final int PING = 0x89;
    private static final int PONG = 0x8A;
    private static final int MASKED = 0x80;
    private static final int SHORT = 126;
    private static final int LONG = 127;
    private static final int MASK = 4;
    private static final int BUFFER = 2048;

    private final Socket socket;
    private final DataInputStream in;

    private WebSocket(Socket socket) throws IOException {
        this.socket = socket;
        this.in = new DataInputStream(new BufferedInputStream(socket.getInputStream(), BUFFER));
    }

    static WebSocket open(int port, String path) throws IOException {
        var socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setTcpNoDelay(true);
        var opened = new WebSocket(socket);
        opened.upgrade(port, path);
        return opened;
    }

    private void upgrade(int port, String path) throws IOException {
        String request = "GET " + path + " HTTP/1.1\r\nHost: localhost:" + port
                + "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
        socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
        var head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            head.append((char) in.readUnsignedByte());
        }
        if (!head.toString().startsWith("HTTP/1.1 101 ")) {
            throw new IOException("no WebSocket: " + head);
        }
    }

    /// Uses a zero mask. Masks protect proxies, and this connection has no proxy.
    void send(String message) throws IOException {
        byte[] bytes = message.getBytes(StandardCharsets.UTF_8);
        boolean small = bytes.length < SHORT;
        var frame = ByteBuffer.allocate(2 + (small ? 0 : Short.BYTES) + MASK + bytes.length);
        frame.put((byte) FINAL_TEXT).put((byte) (MASKED | (small ? bytes.length : SHORT)));
        if (!small) {
            frame.putShort((short) bytes.length);
        }
        frame.putInt(0).put(bytes);
        write(frame.array());
    }

    /// Returns the next message and answers pings on the way.
    String next() throws IOException {
        while (true) {
            int kind = in.readUnsignedByte();
            int length = in.readUnsignedByte();
            if (length == SHORT) {
                length = in.readUnsignedShort();
            } else if (length == LONG) {
                length = (int) in.readLong();
            }
            String message = new String(in.readNBytes(length), StandardCharsets.UTF_8);
            if (kind != PING) {
                return message;
            }
            write(new byte[] {(byte) PONG, (byte) MASKED, 0, 0, 0, 0});
        }
    }

    /// Waits until the server closes the socket.
    void awaitClose() {
        try {
            while (in.readUnsignedByte() != CLOSE) {
                in.skipNBytes(in.readUnsignedByte());
            }
        } catch (EOFException closed) {
            // The server closed the connection without a close frame, which is also accepted.
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private synchronized void write(byte[] frame) throws IOException {
        socket.getOutputStream().write(frame);
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
