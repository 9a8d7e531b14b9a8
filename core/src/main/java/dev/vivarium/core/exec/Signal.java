package dev.vivarium.core.exec;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/// Signals that a client may send, with their Linux numbers. Immutable.
public enum Signal {
    HUP(1),
    INT(2),
    QUIT(3),
    KILL(9),
    USR1(10),
    USR2(12),
    TERM(15),
    CONT(18),
    STOP(19),
    TSTP(20),
    WINCH(28);

    private final int number;

    Signal(int number) {
        this.number = number;
    }

    public int number() {
        return number;
    }

    /// Returns the signal with this name, with or without `SIG`, in either case.
    public static Optional<Signal> find(String name) {
        String upper = name.toUpperCase(Locale.ROOT);
        String bare = upper.startsWith("SIG") ? upper.substring(3) : upper;
        return Arrays.stream(values())
                .filter(signal -> signal.name().equals(bare))
                .findFirst();
    }
}
