package dev.vivarium.server.api;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;

/// Turns a stream of bytes into text, piece by piece. A character that is cut by the border of a piece appears whole
/// with the next one; what is not UTF-8 becomes replacement characters. Confined to one reader.
final class Utf8Decoder {
    private final CharsetDecoder decoder = StandardCharsets.UTF_8
            .newDecoder()
            .onMalformedInput(CodingErrorAction.REPLACE)
            .onUnmappableCharacter(CodingErrorAction.REPLACE);

    /// The beginning of a character whose end has not come yet: at most three bytes.
    private byte[] rest = new byte[0];

    String decode(byte[] bytes) {
        var input = ByteBuffer.allocate(rest.length + bytes.length)
                .put(rest)
                .put(bytes)
                .flip();
        String text = run(input, false);
        rest = new byte[input.remaining()];
        input.get(rest);
        return text;
    }

    /// What is left when nothing more comes: a cut character is no character.
    String end() {
        String text = run(ByteBuffer.wrap(rest), true);
        rest = new byte[0];
        return text;
    }

    private String run(ByteBuffer input, boolean last) {
        var output = CharBuffer.allocate(input.remaining() + 1);
        decoder.decode(input, output, last);
        if (last) {
            decoder.flush(output);
            decoder.reset();
        }
        return output.flip().toString();
    }
}
