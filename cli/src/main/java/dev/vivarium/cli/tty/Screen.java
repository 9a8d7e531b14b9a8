package dev.vivarium.cli.tty;

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/// Screen with the output of the shell and messages of `viv`. Thread-safe.
final class Screen {
    private static final String SAVE = "\u001b7";
    private static final String RESTORE = "\u001b8";
    private static final String BOTTOM = "\u001b[999;1H";
    private static final String REVERSE = "\u001b[7m";
    private static final String PLAIN = "\u001b[0m";
    private static final String TO_THE_END = "\u001b[K";
    private static final String CLEAR = "\u001b[H\u001b[2J";

    private final PrintStream out;

    Screen(PrintStream out) {
        this.out = out;
    }

    synchronized void show(String text) {
        out.writeBytes(text.getBytes(StandardCharsets.UTF_8));
        out.flush();
    }

    /// Shows a message in the last line.
    synchronized void status(String text) {
        show(SAVE + BOTTOM + REVERSE + " " + Printable.text(text) + " " + PLAIN + TO_THE_END + RESTORE);
    }

    /// Clears the screen before the shell sends it again.
    synchronized void clear() {
        show(PLAIN + CLEAR);
    }

    /// Sets the title of the window. Escapes control characters.
    synchronized void title(String text) {
        show("\u001b]0;" + Printable.text(text) + "\u0007");
    }

    synchronized void messageSignal() {
        show("\u0007");
    }

    /// Prints lines between those of the shell.
    synchronized void say(String... lines) {
        show("\r\n" + String.join("\r\n", lines) + "\r\n");
    }
}
