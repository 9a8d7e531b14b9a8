package dev.vivarium.server.socket;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/// Signals that may be sent to what runs in a shell, by their Linux names.
enum SignalName {
    HUP(1),
    INT(2),
    QUIT(3),
    KILL(9),
    USR1(10),
    USR2(12),
    TERM(15),
    CONT(18),
    STOP(19),
    TSTP(20);

    final int number;

    SignalName(int number) {
        this.number = number;
    }

    /// The signal of that name, with or without `SIG`.
    static SignalName of(String name) {
        String wanted = name.toUpperCase(Locale.ROOT);
        for (SignalName signal : values()) {
            if (wanted.equals(signal.name()) || wanted.equals("SIG" + signal.name())) {
                return signal;
            }
        }
        String all = Arrays.stream(values()).map(SignalName::name).collect(Collectors.joining(", "));
        throw new SandboxException(new Failure.InvalidRequest("name", "must be one of " + all));
    }
}
