package dev.vivarium.core.guest;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.temporal.ChronoUnit;

/// Reader of the fields of a payload from a guest, in order. Confined to one thread.
///
/// A truncated field is a protocol violation, and the connection is closed. Bytes after the last known field are
/// ignored, as the protocol requires. Lengths are checked against the remaining bytes before memory is allocated. Names
/// that are not valid UTF-8 are decoded with replacement characters; a caller sees such a file, but cannot name it.
public final class Fields {
    private static final int MAX_WORDS = 300;

    private final ByteBuffer payload;

    Fields(ByteBuffer payload) {
        this.payload = payload;
    }

    /// Copies the fields of a payload, so that they outlive the receive buffer.
    static Fields copyOf(ByteBuffer payload) {
        var copy = new byte[payload.remaining()];
        payload.get(copy);
        return new Fields(ByteBuffer.wrap(copy));
    }

    public boolean isEmpty() {
        return !payload.hasRemaining();
    }

    public int u8() {
        require(Byte.BYTES);
        return Byte.toUnsignedInt(payload.get());
    }

    public int u16() {
        require(Short.BYTES);
        return Short.toUnsignedInt(payload.getShort());
    }

    public long u32() {
        require(Integer.BYTES);
        return Integer.toUnsignedLong(payload.getInt());
    }

    public int i32() {
        require(Integer.BYTES);
        return payload.getInt();
    }

    public long i64() {
        require(Long.BYTES);
        return payload.getLong();
    }

    /// An unsigned number. A value that exceeds a `long` becomes `Long.MAX_VALUE`.
    public long u64() {
        long value = i64();
        return value < 0 ? Long.MAX_VALUE : value;
    }

    public Duration millis() {
        return Duration.ofMillis(u64());
    }

    public Duration micros() {
        return Duration.of(u64(), ChronoUnit.MICROS);
    }

    public String string() {
        return new String(bytes(), StandardCharsets.UTF_8);
    }

    /// Text for people. It is shown in pages and logs, so control characters are removed and the length is limited.
    String displayText() {
        String text = string();
        String cut = text.length() > MAX_WORDS ? text.substring(0, MAX_WORDS) : text;
        return cut.replaceAll("[\\p{Cntrl}\\p{Cs}]", " ").strip();
    }

    public byte[] bytes() {
        return fixed(u32());
    }

    /// The next `length` bytes, without a length prefix.
    byte[] fixed(long length) {
        require(length);
        var bytes = new byte[(int) length];
        payload.get(bytes);
        return bytes;
    }

    private void require(long length) {
        if (payload.remaining() < length) {
            throw new ProtocolViolation("a frame ends inside a field");
        }
    }
}
