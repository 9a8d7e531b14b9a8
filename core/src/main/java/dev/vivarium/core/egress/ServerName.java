package dev.vivarium.core.egress;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/// Server name in the TLS ClientHello, which is sent in clear text. Immutable.
///
/// A program opens a tunnel to a host by name, but one address serves many names. Without this check, the allow-list
/// would restrict addresses and not hosts.
sealed interface ServerName {
    /// Maximum number of bytes to search for the name.
    int LONGEST = 16 * 1024;

    /// The ClientHello is incomplete.
    record Unfinished() implements ServerName {}

    /// The stream is not TLS, or the ClientHello has no name.
    record Absent() implements ServerName {}

    /// The stream begins like TLS but is invalid.
    record Broken() implements ServerName {}

    record Found(String name) implements ServerName {}

    int HANDSHAKE = 22;
    int CLIENT_HELLO = 1;
    int SERVER_NAME = 0;
    int HEADER = 5;

    /// Parses the bytes that the program has sent so far.
    static ServerName in(byte[] bytes) {
        if (bytes.length == 0) {
            return new Unfinished();
        }
        if (bytes[0] != HANDSHAKE) {
            return new Absent();
        }
        try {
            ByteBuffer hello = handshake(ByteBuffer.wrap(bytes));
            if (hello.hasRemaining() && hello.get(0) != CLIENT_HELLO) {
                return new Broken();
            }
            if (hello.remaining() < 4 || hello.remaining() - 4 < (hello.getInt(0) & 0xFF_FFFF)) {
                return bytes.length < LONGEST ? new Unfinished() : new Broken();
            }
            return of(hello.slice(4, hello.getInt(0) & 0xFF_FFFF));
        } catch (BufferUnderflowException | IndexOutOfBoundsException | IllegalArgumentException e) {
            return new Broken();
        }
    }

    /// Joins the handshake messages of the TLS records received so far.
    private static ByteBuffer handshake(ByteBuffer records) {
        ByteBuffer joined = ByteBuffer.allocate(records.remaining());
        while (records.remaining() >= HEADER) {
            if (records.get(records.position()) != HANDSHAKE) {
                throw new IllegalArgumentException("a record of another kind");
            }
            int length = Short.toUnsignedInt(records.getShort(records.position() + 3));
            if (length == 0) {
                throw new IllegalArgumentException("an empty record");
            }
            records.position(records.position() + HEADER);
            int there = Math.min(length, records.remaining());
            joined.put(records.slice(records.position(), there));
            records.position(records.position() + there);
        }
        return joined.flip();
    }

    private static ServerName of(ByteBuffer hello) {
        hello.position(2 + 32); // Version and random.
        skip(hello, Byte.toUnsignedInt(hello.get()));
        skip(hello, Short.toUnsignedInt(hello.getShort()));
        skip(hello, Byte.toUnsignedInt(hello.get()));
        if (!hello.hasRemaining()) {
            return new Absent();
        }
        ByteBuffer extensions = part(hello, Short.toUnsignedInt(hello.getShort()));
        Optional<String> found = Optional.empty();
        while (extensions.hasRemaining()) {
            int type = Short.toUnsignedInt(extensions.getShort());
            ByteBuffer extension = part(extensions, Short.toUnsignedInt(extensions.getShort()));
            if (type == SERVER_NAME) {
                if (found.isPresent()) {
                    return new Broken();
                }
                found = Optional.of(name(extension));
            }
        }
        return found.<ServerName>map(Found::new).orElseGet(Absent::new);
    }

    /// Returns the name. The list must contain exactly one name, of type host name.
    private static String name(ByteBuffer extension) {
        ByteBuffer list = part(extension, Short.toUnsignedInt(extension.getShort()));
        if (list.get() != 0) {
            throw new IllegalArgumentException("a name of another kind");
        }
        ByteBuffer name = part(list, Short.toUnsignedInt(list.getShort()));
        if (list.hasRemaining() || extension.hasRemaining()) {
            throw new IllegalArgumentException("more than one name");
        }
        return StandardCharsets.ISO_8859_1.decode(name).toString();
    }

    private static void skip(ByteBuffer buffer, int count) {
        buffer.position(buffer.position() + count);
    }

    private static ByteBuffer part(ByteBuffer buffer, int count) {
        ByteBuffer part = buffer.slice(buffer.position(), count);
        skip(buffer, count);
        return part;
    }
}
