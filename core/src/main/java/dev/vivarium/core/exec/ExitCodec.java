package dev.vivarium.core.exec;

import dev.vivarium.core.guest.Fields;
import dev.vivarium.model.Exit;

/// Decoder of exits in the wire format. Stateless.
final class ExitCodec {
    private ExitCodec() {}

    static Exit read(Fields fields) {
        Exit.Cause cause = cause(fields.u8());
        return new Exit(
                cause,
                fields.i32(),
                fields.micros(),
                fields.micros(),
                fields.micros(),
                fields.u64(),
                fields.u64(),
                fields.u64());
    }

    private static Exit.Cause cause(int number) {
        return switch (number) {
            case 0 -> Exit.Cause.EXITED;
            case 1 -> Exit.Cause.SIGNALLED;
            case 2 -> Exit.Cause.TIMEOUT;
            case 3 -> Exit.Cause.IDLE_TIMEOUT;
            case 4 -> Exit.Cause.CANCELLED;
            case 5 -> Exit.Cause.DETACHED;
            // Unknown cause of a newer guest, for a command that ended without an exit status.
            default -> Exit.Cause.SIGNALLED;
        };
    }
}
