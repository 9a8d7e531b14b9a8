package dev.vivarium.core.egress;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Strict reader of HTTP/1.1 messages from a byte stream. Confined to one thread.
///
/// Throws [IllegalArgumentException] for input that deviates from the standard.
final class HttpReader {
    private static final int MAX_HEAD = 64 * 1024;
    private static final int BUFFER = 32 * 1024;
    private static final Pattern CHUNK =
            Pattern.compile("([0-9A-Fa-f]{1,15})(?:[ \\t]*;[\\t\\x20-\\x7e\\x80-\\xff]*)?");

    private final InputStream in;
    private final byte[] buffer = new byte[BUFFER];
    private int position;
    private int limit;

    HttpReader(InputStream in) {
        this.in = in;
    }

    /// Returns the lines up to the first empty line, or nothing if the stream ends before the first byte.
    Optional<List<String>> head() throws IOException {
        if (position == limit && !fill()) {
            return Optional.empty();
        }
        return Optional.of(lines());
    }

    private List<String> lines() throws IOException {
        var lines = new ArrayList<String>();
        int room = MAX_HEAD;
        for (String line = line(room); !line.isEmpty(); line = line(room)) {
            lines.add(line);
            room -= line.length() + 2;
        }
        return lines;
    }

    /// A line ends in CR LF. CR and LF are invalid anywhere else.
    private String line(int room) throws IOException {
        var line = new StringBuilder();
        while (true) {
            int c = next();
            if (c == '\r') {
                if (next() != '\n') {
                    throw new IllegalArgumentException("a line ends in a CR alone");
                }
                return line.toString();
            }
            if (c == '\n' || c == 0) {
                throw new IllegalArgumentException("a line ends in a LF alone, or holds a NUL");
            }
            if (line.length() >= room) {
                throw new IllegalArgumentException("the headers are longer than " + MAX_HEAD / 1024 + " KiB");
            }
            line.append((char) c);
        }
    }

    private int next() throws IOException {
        if (position == limit && !fill()) {
            throw new EOFException("the other side ended in the middle of its headers");
        }
        return Byte.toUnsignedInt(buffer[position++]);
    }

    private boolean fill() throws IOException {
        int count = in.read(buffer, 0, buffer.length);
        position = 0;
        limit = Math.max(0, count);
        return count > 0;
    }

    /// Returns buffered bytes, or blocks until some arrive. Returns nothing at the end of the stream. For the bytes
    /// after an HTTP message.
    Optional<byte[]> piece() throws IOException {
        if (position == limit && !fill()) {
            return Optional.empty();
        }
        var piece = java.util.Arrays.copyOfRange(buffer, position, limit);
        position = limit;
        return Optional.of(piece);
    }

    /// Copies a body in pieces, with the framing `as` towards the receiver.
    void copy(BodyFraming body, BodyFraming as, OutputStream to) throws IOException {
        switch (body) {
            case BodyFraming.Absent _ -> {}
            case BodyFraming.Length(long bytes) -> copy(bytes, as, to);
            case BodyFraming.Chunked _ -> copyChunks(as, to);
            case BodyFraming.UntilClose _ -> {
                while (position < limit || fill()) {
                    position += send(limit - position, as, to);
                }
            }
        }
        if (as instanceof BodyFraming.Chunked) {
            to.write("0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        }
    }

    private void copy(long bytes, BodyFraming as, OutputStream to) throws IOException {
        for (long left = bytes; left > 0; ) {
            if (position == limit && !fill()) {
                throw new EOFException("the other side ended in the middle of its body");
            }
            int count = send((int) Math.min(left, limit - position), as, to);
            position += count;
            left -= count;
        }
    }

    private void copyChunks(BodyFraming as, OutputStream to) throws IOException {
        while (true) {
            Matcher size = CHUNK.matcher(line(MAX_HEAD));
            if (!size.matches()) {
                throw new IllegalArgumentException("a chunk does not begin with its size");
            }
            long bytes = HexFormat.fromHexDigitsToLong(size.group(1));
            if (bytes == 0) {
                lines(); // Trailers are hop-by-hop.
                return;
            }
            copy(bytes, as, to);
            if (!line(0).isEmpty()) {
                throw new IllegalArgumentException("a chunk is longer than its size");
            }
        }
    }

    private int send(int count, BodyFraming as, OutputStream to) throws IOException {
        if (!(as instanceof BodyFraming.Chunked)) {
            to.write(buffer, position, count);
            return count;
        }
        byte[] size = (Integer.toHexString(count) + "\r\n").getBytes(StandardCharsets.US_ASCII);
        // One write per chunk: each write becomes a frame or a packet.
        var chunk = new byte[size.length + count + 2];
        System.arraycopy(size, 0, chunk, 0, size.length);
        System.arraycopy(buffer, position, chunk, size.length, count);
        chunk[chunk.length - 2] = '\r';
        chunk[chunk.length - 1] = '\n';
        to.write(chunk);
        return count;
    }
}
