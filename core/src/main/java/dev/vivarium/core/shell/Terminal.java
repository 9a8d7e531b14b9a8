package dev.vivarium.core.shell;

import dev.vivarium.core.exec.CommandStarted;
import dev.vivarium.core.exec.Execution;
import dev.vivarium.core.exec.OutputListener;
import dev.vivarium.core.exec.SignalTarget;
import dev.vivarium.core.guest.Guest;
import dev.vivarium.core.guest.SurvivingProcess;
import dev.vivarium.model.Command;
import dev.vivarium.model.ExecEvent;
import dev.vivarium.model.ProcessInfo;
import java.util.HashMap;
import java.util.Optional;

/// Command on a terminal of its own, for interactive use. Thread-safe, with a single reader: other threads may write,
/// resize, signal and close.
public final class Terminal implements AutoCloseable {
    private static final String TERM = "xterm-256color";

    private final Execution execution;

    private Terminal(Execution execution) {
        this.execution = execution;
    }

    /// Starts `command` on a new terminal, which the guest keeps under `name` when the connection is lost. The
    /// output limit of the command does not apply. Sets `TERM` unless the environment contains it.
    static Terminal openKept(Guest guest, Command command, String name, TerminalSize size) {
        Command interactive = interactive(command);
        return new Terminal(Execution.startOnKeptTerminal(guest, interactive, name, size.columns(), size.rows()));
    }

    /// Takes over a kept terminal.
    static Terminal attach(Guest guest, SurvivingProcess survivor) {
        return new Terminal(Execution.attach(guest, survivor));
    }

    private static Command interactive(Command command) {
        var env = new HashMap<>(command.env());
        env.putIfAbsent("TERM", TERM);
        return command.withEnv(env).withInput(Command.Input.STREAM).withOutputLimit(Command.UNLIMITED);
    }

    /// Adds a listener that receives the same events as the reader. Call it before the first read.
    public Terminal withListener(OutputListener listener) {
        execution.withListener(listener);
        return this;
    }

    /// Returns the start event: a start if the command is known, otherwise a recovery.
    CommandStarted commandStarted(String name, Optional<String> command) {
        var place = new CommandStarted.Place(firstByte(), 0);
        return command.map(line -> CommandStarted.kept(ProcessInfo.Kind.SHELL, pid(), line, name))
                .orElseGet(() -> CommandStarted.found(ProcessInfo.Kind.SHELL, pid(), name, place));
    }

    /// Returns the number of bytes that the terminal printed before the first byte read here.
    long firstByte() {
        return execution.firstByte();
    }

    /// Returns the process id inside the sandbox.
    public int pid() {
        return execution.pid();
    }

    /// Waits for the next event: `Started`, then the output as standard output, then `Exited`.
    public ExecEvent next() {
        return execution.next();
    }

    /// Writes input. Input for an exited process is discarded.
    public void write(byte[] bytes, int offset, int length) {
        execution.write(bytes, offset, length);
    }

    public void resize(TerminalSize size) {
        execution.resize(size.columns(), size.rows());
    }

    public void signal(int signal, SignalTarget target) {
        execution.signal(signal, target);
    }

    /// Kills the processes on the terminal. Idempotent.
    @Override
    public void close() {
        execution.close();
    }
}
