package dev.vivarium.model;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;

/// Incremental UTF-8 decoder for byte streams. The decoder holds back an incomplete character until its last byte
/// arrives. Invalid bytes become replacement characters. Confined to one thread.
public final class Utf8Decoder {
    private static final byte[] NOTHING = {};

    private final CharsetDecoder decoder = StandardCharsets.UTF_8
            .newDecoder()
            .onMalformedInput(CodingErrorAction.REPLACE)
            .onUnmappableCharacter(CodingErrorAction.REPLACE);

    /// Start of an incomplete character: at most three bytes.
    private byte[] rest = NOTHING;

    public String decode(byte[] bytes) {
        return decode(bytes, 0, bytes.length);
    }

    public String decode(byte[] bytes, int offset, int length) {
        var input = rest.length == 0
                ? ByteBuffer.wrap(bytes, offset, length)
                : ByteBuffer.allocate(rest.length + length)
                        .put(rest)
                        .put(bytes, offset, length)
                        .flip();
        var text = CharBuffer.allocate(input.remaining());
        decoder.decode(input, text, false);
        rest = input.hasRemaining() ? new byte[input.remaining()] : NOTHING;
        input.get(rest);
        return text.flip().toString();
    }

    /// Ends the input. An incomplete character becomes a replacement character. The decoder can then decode the
    /// next stream.
    public String end() {
        String incomplete = rest.length == 0 ? "" : decoder.replacement();
        rest = NOTHING;
        decoder.reset();
        return incomplete;
    }
}
