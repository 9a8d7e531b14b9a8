package dev.vivarium.core.exec;

import dev.vivarium.core.guest.Payload;
import dev.vivarium.model.Command;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// Encoder of commands in the wire format. Stateless.
final class CommandCodec {
    /// User and group id of all commands of clients.
    private static final int SANDBOX_USER = 1000;

    private static final int INPUT_IS_A_STREAM = 1;
    private static final int KEPT = 2;
    private static final String PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

    private CommandCodec() {}

    static Payload exec(Command command) {
        return exec(command, 0);
    }

    /// Encodes a kept command. The caller appends its name.
    static Payload kept(Command command) {
        return exec(command, KEPT);
    }

    private static Payload exec(Command command, int flags) {
        return new Payload()
                .u8(flags | (command.input() == Command.Input.STREAM ? INPUT_IS_A_STREAM : 0))
                .u32(SANDBOX_USER)
                .u32(SANDBOX_USER)
                .u64(millis(command.timeout()))
                .u64(millis(command.idleTimeout()))
                .u64(command.outputLimit())
                .string(command.directory())
                .strings(command.argv())
                .strings(environment(command));
    }

    /// The guest searches programs in the command's own `PATH`, so it must be set.
    private static List<String> environment(Command command) {
        var lines = new ArrayList<String>();
        command.env().forEach((name, value) -> lines.add(name + "=" + value));
        if (!command.env().containsKey("PATH")) {
            lines.add("PATH=" + PATH);
        }
        return lines;
    }

    /// On the wire, zero means no limit, so a limit below a millisecond becomes one millisecond.
    private static long millis(Optional<Duration> limit) {
        return limit.map(time -> Math.max(1, time.toMillis())).orElse(0L);
    }
}
