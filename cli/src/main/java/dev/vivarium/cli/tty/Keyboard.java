package dev.vivarium.cli.tty;

import dev.vivarium.cli.tty.Escapes.Order;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/// Reads input and separates text for the shell from commands to `viv`. Joins the bytes of a split character. Runs on
/// its own thread.
final class Keyboard {
    private static final int PIECE = 4096;

    private final InputStream in;
    private final Escapes escapes;
    private final CharsetDecoder decoder = StandardCharsets.UTF_8
            .newDecoder()
            .onMalformedInput(CodingErrorAction.REPLACE)
            .onUnmappableCharacter(CodingErrorAction.REPLACE);
    private final ByteBuffer pending = ByteBuffer.allocate(PIECE + 8);

    Keyboard(InputStream in, Escapes escapes) {
        this.in = in;
        this.escapes = escapes;
    }

    /// Reads until the end of the input or a failure.
    void run(Consumer<String> typed, Consumer<Order> ordered) {
        var piece = new byte[PIECE];
        try {
            for (int count = in.read(piece); count >= 0; count = in.read(piece)) {
                var keys = escapes.read(piece, count);
                String text = text(keys.forShell());
                if (!text.isEmpty()) {
                    typed.accept(text);
                }
                if (keys.order() != Order.NONE) {
                    ordered.accept(keys.order());
                }
            }
        } catch (IOException _) {
            // The terminal is closed, which counts as the end of input.
        }
        ordered.accept(Order.DETACH);
    }

    private String text(byte[] bytes) {
        var characters = CharBuffer.allocate(bytes.length + pending.position() + 1);
        pending.put(bytes);
        pending.flip();
        decoder.decode(pending, characters, false);
        pending.compact();
        return characters.flip().toString();
    }
}
