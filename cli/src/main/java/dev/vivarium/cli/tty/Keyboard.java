package dev.vivarium.cli.tty;

import dev.vivarium.cli.tty.Escapes.Order;
import dev.vivarium.model.Utf8Decoder;
import java.io.IOException;
import java.io.InputStream;
import java.util.function.Consumer;

/// Reads input and separates text for the shell from commands to `viv`. Joins the bytes of a split character. Runs on
/// its own thread.
final class Keyboard {
    private static final int PIECE = 4096;

    private final InputStream in;
    private final Escapes escapes;
    private final Utf8Decoder decoder = new Utf8Decoder();

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
                String text = decoder.decode(keys.forShell());
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
}
