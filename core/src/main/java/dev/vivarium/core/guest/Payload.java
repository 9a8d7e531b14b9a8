package dev.vivarium.core.guest;

import dev.vivarium.model.SandboxException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;

/// Builder of a frame to the guest, field by field. Strings are sent as UTF-8. Confined to one thread.
public final class Payload {
    static final int HEADER = 9;
    static final int MAX = 262_144;
    private static final int INITIAL = 256;

    /// Starts after the space for the header, so that a frame is one buffer and one write.
    private ByteBuffer buffer = ByteBuffer.allocate(INITIAL).position(HEADER);

    public Payload u8(int value) {
        room(Byte.BYTES).put((byte) value);
        return this;
    }

    public Payload u16(int value) {
        room(Short.BYTES).putShort((short) value);
        return this;
    }

    public Payload u32(long value) {
        room(Integer.BYTES).putInt((int) value);
        return this;
    }

    public Payload u64(long value) {
        room(Long.BYTES).putLong(value);
        return this;
    }

    public Payload string(String text) {
        return bytes(text.getBytes(StandardCharsets.UTF_8));
    }

    public Payload strings(Collection<String> texts) {
        u32(texts.size());
        texts.forEach(this::string);
        return this;
    }

    Payload bytes(byte[] bytes) {
        u32(bytes.length);
        return fixed(bytes);
    }

    /// Bytes without a length prefix.
    Payload fixed(byte[] bytes) {
        room(bytes.length).put(bytes);
        return this;
    }

    Payload append(Payload other) {
        return fixed(Arrays.copyOfRange(other.buffer.array(), HEADER, other.buffer.position()));
    }

    ByteBuffer frame(int channel, Kind kind) {
        ByteBuffer frame = buffer.duplicate().flip();
        return header(frame, channel, kind, frame.limit() - HEADER).position(0);
    }

    static ByteBuffer header(ByteBuffer frame, int channel, Kind kind, int length) {
        return frame.putInt(0, length).putInt(Integer.BYTES, channel).put(2 * Integer.BYTES, kind.code);
    }

    private ByteBuffer room(int length) {
        if (buffer.position() - HEADER > MAX - length) {
            throw SandboxException.invalid("request", "must be at most " + MAX + " bytes with all its fields");
        }
        if (buffer.remaining() < length) {
            int wanted = Math.max(2 * buffer.capacity(), buffer.position() + length);
            buffer = ByteBuffer.wrap(Arrays.copyOf(buffer.array(), wanted)).position(buffer.position());
        }
        return buffer;
    }
}
