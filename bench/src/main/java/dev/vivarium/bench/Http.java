package dev.vivarium.bench;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.zip.CRC32;

/// Minimal keep-alive HTTP/1.1 connection. Confined to the worker that uses it.
///
/// It is minimal so that a measurement covers the server and not a client library. It connects to Vivarium (TCP) and to
/// a Docker Engine (Unix socket).
final class Http implements AutoCloseable {
    private static final int BUFFER = 65_536;
    private static final Duration TIMEOUT = Duration.ofMinutes(2);

    private final AutoCloseable socket;
    private final InputStream in;
    private final OutputStream out;
    private final String credentials;

    private Http(AutoCloseable socket, InputStream in, OutputStream out, String credentials) {
        this.socket = socket;
        this.in = new BufferedInputStream(in, BUFFER);
        this.out = out;
        this.credentials = credentials;
    }

    static Http tcp(int port, String key) {
        try {
            var socket = new Socket();
            socket.setTcpNoDelay(true);
            socket.setSoTimeout((int) TIMEOUT.toMillis());
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 10_000);
            String header = "Authorization: Bearer " + key + "\r\n";
            return new Http(socket, socket.getInputStream(), socket.getOutputStream(), header);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    static Http unix(Path path) {
        try {
            var channel = SocketChannel.open(UnixDomainSocketAddress.of(path));
            return new Http(channel, Channels.newInputStream(channel), Channels.newOutputStream(channel), "");
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    Answer get(String path) {
        return exchange("GET", path, "");
    }

    Answer delete(String path) {
        return exchange("DELETE", path, "");
    }

    Answer post(String path, String json) {
        return exchange("POST", path, "application/json", json.getBytes(StandardCharsets.UTF_8));
    }

    /// Sends one request, its body in parts, and reads the whole response.
    Answer exchange(String method, String path, String type, byte[]... body) {
        try {
            send(method, path, type, body);
            return answer();
        } catch (IOException failure) {
            throw new UncheckedIOException(method + " " + path, failure);
        }
    }

    /// Sends one request with the stream as its body, and reads the whole response.
    Answer stream(String method, String path, String type, InputStream body) {
        try {
            write((method + " " + path + " HTTP/1.1\r\nHost: localhost\r\n" + credentials + "Content-Type: " + type
                    + "\r\nTransfer-Encoding: chunked\r\n\r\n"));
            byte[] buffer = new byte[BUFFER];
            for (int count = body.read(buffer); count > 0; count = body.read(buffer)) {
                write(Integer.toHexString(count) + "\r\n");
                out.write(buffer, 0, count);
                write("\r\n");
            }
            write("0\r\n\r\n");
            return answer();
        } catch (IOException failure) {
            throw new UncheckedIOException(method + " " + path, failure);
        }
    }

    /// Sends one request and reads its response without keeping it.
    Received receive(String method, String path, String type, byte[]... body) {
        try {
            send(method, path, type, body);
            var head = head();
            if (head.status != 200) {
                throw new IllegalStateException(
                        "status " + head.status + ": " + body(head).text());
            }
            return drain(head);
        } catch (IOException failure) {
            throw new UncheckedIOException(method + " " + path, failure);
        }
    }

    /// Sends a request that turns the connection into a raw stream, and reads only the response head.
    void open(String method, String path, String json) {
        try {
            send(method, path, "application/json", json.getBytes(StandardCharsets.UTF_8));
            var head = head();
            if (head.status != 200 && head.status != 101) {
                throw new IllegalStateException(
                        "status " + head.status + ": " + body(head).text());
            }
        } catch (IOException failure) {
            throw new UncheckedIOException(method + " " + path, failure);
        }
    }

    /// Sends a request for an event stream, and waits until `text` arrives. The connection is then not reusable.
    void awaitEvent(String path, String json, String text) {
        try {
            byte[] body = json.getBytes(StandardCharsets.UTF_8);
            write("POST " + path + " HTTP/1.1\r\nHost: localhost\r\n" + credentials
                    + "Accept: application/x-ndjson\r\nContent-Type: application/json\r\nContent-Length: " + body.length
                    + "\r\n\r\n" + json);
            var seen = new StringBuilder();
            while (seen.indexOf(text) < 0) {
                seen.append(line()).append('\n');
            }
        } catch (IOException failure) {
            throw new UncheckedIOException("POST " + path, failure);
        }
    }

    /// Waits for the first byte of a raw stream that an earlier request opened.
    void awaitByte() {
        try {
            if (in.read() < 0) {
                throw new EOFException("the stream ended before its first byte");
            }
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /// Reads a raw stream to its end and returns the number of bytes.
    long drainStream() {
        try {
            return drain(in, Long.MAX_VALUE, new CRC32());
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /// Sends a small request in one piece, as an efficient client does.
    private void send(String method, String path, String type, byte[]... body) throws IOException {
        long length = 0;
        for (byte[] part : body) {
            length += part.length;
        }
        byte[] head = (method + " " + path + " HTTP/1.1\r\nHost: localhost\r\n" + credentials
                        + (type.isEmpty() ? "" : "Content-Type: " + type + "\r\n")
                        + (method.equals("GET") ? "" : "Content-Length: " + length + "\r\n") + "\r\n")
                .getBytes(StandardCharsets.UTF_8);
        if (length > BUFFER) {
            out.write(head);
            for (byte[] part : body) {
                out.write(part);
            }
            return;
        }
        var whole = new ByteArrayOutputStream(head.length + (int) length);
        whole.write(head);
        for (byte[] part : body) {
            whole.write(part);
        }
        out.write(whole.toByteArray());
    }

    private void write(String text) throws IOException {
        out.write(text.getBytes(StandardCharsets.UTF_8));
    }

    private Answer answer() throws IOException {
        return body(head());
    }

    private Answer body(Head head) throws IOException {
        if (head.status == 204 || head.status == 304) {
            return new Answer(head.status, new byte[0]);
        }
        var length = head.length();
        if (length >= 0) {
            return new Answer(head.status, in.readNBytes((int) length));
        }
        return new Answer(head.status, head.isChunked() ? chunks() : in.readAllBytes());
    }

    private Received drain(Head head) throws IOException {
        var sum = new CRC32();
        if (!head.isChunked()) {
            long length = head.length();
            long bytes = drain(in, length < 0 ? Long.MAX_VALUE : length, sum);
            return new Received(bytes, sum.getValue());
        }
        long bytes = 0;
        for (int size = chunkSize(); size > 0; size = chunkSize()) {
            bytes += drain(in, size, sum);
            line();
        }
        line();
        return new Received(bytes, sum.getValue());
    }

    private static long drain(InputStream in, long length, CRC32 sum) throws IOException {
        byte[] buffer = new byte[BUFFER];
        long total = 0;
        while (total < length) {
            int count = in.read(buffer, 0, (int) Math.min(buffer.length, length - total));
            if (count < 0) {
                break;
            }
            sum.update(buffer, 0, count);
            total += count;
        }
        return total;
    }

    private Head head() throws IOException {
        String statusLine = line();
        var headers = new HashMap<String, String>();
        for (String line = line(); !line.isEmpty(); line = line()) {
            int colon = line.indexOf(':');
            headers.put(
                    line.substring(0, colon).toLowerCase(Locale.ROOT),
                    line.substring(colon + 1).strip());
        }
        return new Head(Integer.parseInt(statusLine.substring(9, 12)), headers);
    }

    private byte[] chunks() throws IOException {
        var body = new ByteArrayOutputStream();
        for (int size = chunkSize(); size > 0; size = chunkSize()) {
            body.write(in.readNBytes(size));
            line();
        }
        line();
        return body.toByteArray();
    }

    private int chunkSize() throws IOException {
        return Integer.parseInt(line().strip(), 16);
    }

    private String line() throws IOException {
        var text = new StringBuilder();
        for (int c = in.read(); c != '\n'; c = in.read()) {
            if (c < 0) {
                throw new EOFException("the server closed the connection");
            }
            if (c != '\r') {
                text.append((char) c);
            }
        }
        return text.toString();
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (Exception ignored) {
            // The measurement is over, so the failure has no effect.
        }
    }

    private record Head(int status, Map<String, String> headers) {
        /// Returns the length of the body, or -1 if the response has no length.
        long length() {
            return Long.parseLong(headers.getOrDefault("content-length", "-1"));
        }

        boolean isChunked() {
            return "chunked".equals(headers.get("transfer-encoding"));
        }
    }

    /// Size and checksum of a response that was not kept.
    record Received(long bytes, long crc) {
        static Received of(byte[] content) {
            var sum = new CRC32();
            sum.update(content);
            return new Received(content.length, sum.getValue());
        }
    }

    /// Complete response.
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    record Answer(int status, byte[] body) {
        String text() {
            return new String(body, StandardCharsets.UTF_8);
        }

        /// Returns this response if its status is `wanted`. Otherwise, fails with the body.
        Answer expect(int wanted) {
            if (status != wanted) {
                throw new IllegalStateException("status " + status + " instead of " + wanted + ": " + text());
            }
            return this;
        }

        /// Returns a top-level string member. This is enough for ids and keeps a parser off the measured path.
        String member(String name) {
            String text = text();
            int at = text.indexOf('"' + name + '"');
            if (at < 0) {
                throw new IllegalStateException("no member " + name + " in " + text);
            }
            int open = text.indexOf('"', text.indexOf(':', at) + 1);
            return text.substring(open + 1, text.indexOf('"', open + 1));
        }
    }
}
