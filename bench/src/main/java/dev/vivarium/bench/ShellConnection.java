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
import java.util.regex.Pattern;

/// A WebSocket to a shell on one blocking socket, so that no client's machinery is measured. Confined
/// to one worker that reads and one that types.
final class ShellConnection implements AutoCloseable {
    private static final int FINAL_TEXT = 0x81;
    private static final int CLOSE = 0x88;
    private static final int PING = 0x89;
    private static final int PONG = 0x8A;
    private static final int MASKED = 0x80;
    private static final int SHORT = 126;
    private static final int LONG = 127;
    private static final int MASK = 4;

    private static final String SHOWN = "{\"type\":\"stdout\",\"data\":\"";
    private static final Pattern SESSION = Pattern.compile("\"session_id\":\"([^\"]+)\"");

    private final Socket socket;
    private final DataInputStream in;
    private final String sandbox;
    private String session = "";

    private ShellConnection(Socket socket, String sandbox) throws IOException {
        this.socket = socket;
        this.sandbox = sandbox;
        this.in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
    }

    /// Starts `command` in a new shell and waits for its first line.
    static ShellConnection open(int port, String key, String sandbox, String command) {
        return connect(port, sandbox, "\"token\":\"" + key + "\",\"command\":\"" + command + "\"");
    }

    /// Comes into the shell of another connection, and waits for its first line.
    static ShellConnection join(int port, String key, ShellConnection other) {
        return connect(port, other.sandbox, "\"token\":\"" + key + "\",\"session_id\":\"" + other.session + "\"");
    }

    private static ShellConnection connect(int port, String sandbox, String auth) {
        try {
            var socket = new Socket(InetAddress.getLoopbackAddress(), port);
            socket.setTcpNoDelay(true);
            var shell = new ShellConnection(socket, sandbox);
            shell.upgrade(port, sandbox);
            shell.send("{\"type\":\"auth\"," + auth + "}");
            var answer = SESSION.matcher(shell.next());
            if (!answer.find()) {
                throw new IOException("not let into a shell of " + sandbox);
            }
            shell.session = answer.group(1);
            shell.await("ready");
            return shell;
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /// Types `text`, which must need no escapes but those of line ends.
    void type(String text) {
        try {
            send("{\"type\":\"stdin\",\"data\":\"" + text.replace("\n", "\\n") + "\"}");
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /// Reads until so many characters have been shown; something else than what is shown ends it.
    String read(int count) {
        var shown = new StringBuilder();
        try {
            while (shown.length() < count) {
                String message = next();
                if (message.startsWith(SHOWN)) {
                    String data = message.substring(SHOWN.length(), message.length() - 2);
                    shown.append(data.replace("\\n", "\n"));
                } else if (!message.contains("\"presence\"")) {
                    throw new IOException(message);
                }
            }
            return shown.toString();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /// Types `text` and waits until it is shown.
    void echo(String text) {
        try {
            send("{\"type\":\"stdin\",\"data\":\"" + text + "\"}");
            await("\"data\":\"" + text + "\"");
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private void upgrade(int port, String sandbox) throws IOException {
        String request = "GET /sandboxes/" + sandbox + "/shell HTTP/1.1\r\nHost: localhost:" + port
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

    /// The mask is zero: it is there against proxies, and there is none.
    private void send(String message) throws IOException {
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

    private void await(String wanted) throws IOException {
        while (!next().contains(wanted)) {
            // Presence, or what came before.
        }
    }

    /// The next message; the server's pings are answered on the way.
    private String next() throws IOException {
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
            // Without a word, which is as good.
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
