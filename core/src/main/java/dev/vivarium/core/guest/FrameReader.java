package dev.vivarium.core.guest;

import java.nio.ByteBuffer;

/// Splitter of the bytes of one guest into frames. Confined to the guest loop, except [#allowFullFrames].
///
/// It buffers an incomplete frame until the rest arrives. The buffer holds received bytes only, never the announced
/// length.
final class FrameReader {
    /// Maximum payload of the first frame, which arrives before authentication.
    static final int MAX_FIRST_PAYLOAD = 65_536;

    /// Maximum size of an incomplete frame.
    static final int MAX_REST = Payload.HEADER + Payload.MAX;

    private static final byte[] NOTHING = {};

    private byte[] rest = NOTHING;
    private volatile int maxPayload = MAX_FIRST_PAYLOAD;

    /// Receiver of frames. The payload is valid during the call only.
    @FunctionalInterface
    interface Sink {
        void frame(int channel, Kind kind, ByteBuffer payload);
    }

    /// Allows frames of full length.
    void allowFullFrames() {
        maxPayload = Payload.MAX;
    }

    /// Copies the incomplete frame into `buffer`, before the next read.
    void restore(ByteBuffer buffer) {
        buffer.put(rest);
        rest = NOTHING;
    }

    /// Passes every complete frame of `buffer` to `sink`, and stores the rest.
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
