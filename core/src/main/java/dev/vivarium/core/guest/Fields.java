package dev.vivarium.core.guest;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.temporal.ChronoUnit;

/// Reads the fields of a payload that a guest sent, in order. A field that is not wholly there breaks the protocol:
/// the connection is closed. Bytes after the last known field are ignored, as the protocol wants. Confined to the
/// worker that reads it.
///
/// Lengths are compared with what is there before anything is allocated. Names that are not valid UTF-8 are decoded
/// with replacement characters; such a file can be seen but not named by a caller.
public final class Fields {
    private static final int MAX_WORDS = 300;

    private final ByteBuffer payload;

    Fields(ByteBuffer payload) {
        this.payload = payload;
    }

    /// Fields of a payload that outlives the buffer it arrived in.
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

    /// An unsigned number; what does not fit a `long` becomes the largest one.
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

    /// Words for people. They reach pages and logs, so they must neither steer a terminal nor flood it.
    String words() {
        String text = string();
        String cut = text.length() > MAX_WORDS ? text.substring(0, MAX_WORDS) : text;
        return cut.replaceAll("[\\p{Cntrl}\\p{Cs}]", " ").strip();
    }

    public byte[] bytes() {
        return fixed(u32());
    }

    /// The next `length` bytes, without a length in front.
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
