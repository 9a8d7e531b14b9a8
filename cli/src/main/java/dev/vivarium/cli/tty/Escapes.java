package dev.vivarium.cli.tty;

import java.io.ByteArrayOutputStream;

/// Parser for escape sequences of `viv`: as with ssh, `~` at the beginning of a line, followed by a letter. Confined to
/// the thread that reads the keyboard.
public final class Escapes {
    private enum Place {
        LINE_START,
        IN_LINE,
        AFTER_TILDE
    }

    /// Command to `viv`.
    public enum Order {
        NONE,
        /// `~.`: ends the shell.
        QUIT,
        /// `~d`: detaches from the shell.
        DETACH,
        /// `~?`
        HELP
    }

    /// Input for the shell and at most one command. Input after a command is discarded.
    @SuppressWarnings("ArrayRecordComponent") // Read once by its receiver, compared by nobody.
    public record Keys(byte[] forShell, Order order) {}

    private final boolean enabled;
    private Place place = Place.LINE_START;

    public Escapes(boolean enabled) {
        this.enabled = enabled;
    }

    public Keys read(byte[] keys, int count) {
        var shell = new ByteArrayOutputStream(count + 1);
        for (int i = 0; i < count; i++) {
            Order order = enabled ? step(keys[i], shell) : pass(keys[i], shell);
            if (order != Order.NONE) {
                return new Keys(shell.toByteArray(), order);
            }
        }
        return new Keys(shell.toByteArray(), Order.NONE);
    }

    private Order step(byte key, ByteArrayOutputStream shell) {
        if (place == Place.LINE_START && key == '~') {
            place = Place.AFTER_TILDE;
            return Order.NONE;
        }
        if (place != Place.AFTER_TILDE) {
            return pass(key, shell);
        }
        place = Place.LINE_START;
        switch (key) {
            case '.' -> {
                return Order.QUIT;
            }
            case 'd' -> {
                return Order.DETACH;
            }
            case '?' -> {
                return Order.HELP;
            }
            case '~' -> {
                // The second tilde is input.
            }
            default -> shell.write('~');
        }
        return pass(key, shell);
    }

    private Order pass(byte key, ByteArrayOutputStream shell) {
        shell.write(key);
        place = key == '\r' || key == '\n' ? Place.LINE_START : Place.IN_LINE;
        return Order.NONE;
    }
}
