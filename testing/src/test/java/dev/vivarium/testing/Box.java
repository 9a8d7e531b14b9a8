package dev.vivarium.testing;

import dev.vivarium.core.exec.Execution;
import dev.vivarium.core.guest.Guest;
import dev.vivarium.core.guest.GuestLoop;
import dev.vivarium.core.provider.Machine;
import dev.vivarium.model.Command;
import dev.vivarium.model.ExecResult;
import dev.vivarium.model.SandboxId;
import java.time.Duration;
import java.util.Optional;

/// Machine with a connected guest, for contract tests. Thread-safe.
public final class Box implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private final Machine machine;
    private final Guest guest;

    private Box(Machine machine, Guest guest) {
        this.machine = machine;
        this.guest = guest;
    }

    /// Waits for the guest and authenticates it.
    public static Box connect(GuestLoop loop, Machine machine, String secret) {
        return new Box(
                machine,
                Guest.handshake(loop, machine.id(), machine.connect(TIMEOUT).channel(), secret));
    }

    public SandboxId id() {
        return machine.id();
    }

    public Machine machine() {
        return machine;
    }

    public Guest guest() {
        return guest;
    }

    /// Runs a script to its end.
    public ExecResult run(String script) {
        var command = Command.shell(script);
        var bounded = new Command(
                command.argv(),
                command.env(),
                command.directory(),
                command.input(),
                Optional.of(Duration.ofSeconds(60)),
                Optional.empty(),
                Command.OUTPUT_LIMIT);
        return Execution.start(guest, bounded).collect();
    }

    /// Returns the output of a script, both streams together, without the last line end.
    public String output(String script) {
        return run("exec 2>&1; " + script).stdout().stripTrailing();
    }

    /// Starts a script that keeps running without a client.
    public void leave(String script) {
        try (var execution = Execution.start(guest, Command.shell(script))) {
            execution.detach();
        }
    }

    @Override
    public void close() {
        guest.close();
    }
}
