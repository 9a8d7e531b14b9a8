package dev.vivarium.core.guest;

import java.nio.ByteBuffer;

/// Cuts one guest's bytes into frames. A frame that is not complete yet is kept aside until its rest has come, so what
/// is held for a guest is what it has sent, never what it has announced. Confined to the guest loop, but for [#trust].
final class FrameReader {
    /// What a first frame may hold; nobody has proved anything yet.
    static final int MAX_FIRST_PAYLOAD = 65_536;

    /// The most that can be kept aside.
    static final int MAX_REST = Payload.HEADER + Payload.MAX;

    private static final byte[] NOTHING = {};

    private byte[] rest = NOTHING;
    private volatile int maxPayload = MAX_FIRST_PAYLOAD;

    /// Takes one frame. The payload is valid during the call only.
    @FunctionalInterface
    interface Sink {
        void frame(int channel, Kind kind, ByteBuffer payload);
    }

    /// Allows frames of full length.
    void trust() {
        maxPayload = Payload.MAX;
    }

    /// Puts what was kept aside into `buffer`, before more is read into it.
    void restore(ByteBuffer buffer) {
        buffer.put(rest);
        rest = NOTHING;
    }

    /// Hands every whole frame of `buffer` to `sink` and keeps what is left.
    void read(ByteBuffer buffer, Sink sink) {
        while (buffer.remaining() >= Payload.HEADER) {
            int start = buffer.position();
            int length = buffer.getInt(start);
            if (length < 0 || length > maxPayload) {
                throw new ProtocolViolation("a frame announces " + Integer.toUnsignedString(length) + " bytes");
            }
            Kind kind = Kind.fromGuest(buffer.get(start + 2 * Integer.BYTES));
            if (buffer.remaining() < Payload.HEADER + length) {
                break;
            }
            int channel = buffer.getInt(start + Integer.BYTES);
            buffer.position(start + Payload.HEADER + length);
            sink.frame(channel, kind, buffer.slice(start + Payload.HEADER, length));
        }
        if (buffer.hasRemaining()) {
            rest = new byte[buffer.remaining()];
            buffer.get(rest);
        }
    }
}
