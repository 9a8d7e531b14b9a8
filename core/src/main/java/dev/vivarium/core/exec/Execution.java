package dev.vivarium.core.exec;

import dev.vivarium.core.Undo;
import dev.vivarium.core.guest.Channel;
import dev.vivarium.core.guest.Fields;
import dev.vivarium.core.guest.Guest;
import dev.vivarium.core.guest.GuestObserver;
import dev.vivarium.core.guest.Message;
import dev.vivarium.core.guest.Payload;
import dev.vivarium.core.guest.RequestSubject;
import dev.vivarium.core.guest.Service;
import dev.vivarium.core.guest.SurvivingProcess;
import dev.vivarium.model.Command;
import dev.vivarium.model.ExecEvent;
import dev.vivarium.model.ExecResult;
import dev.vivarium.model.Exit;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;

/// Running command in a sandbox. Thread-safe, with a single reader: other threads may write, signal and close.
///
/// The reader pulls the output, so a reader that stops slows the command down like a slow terminal. If the guest is
/// lost, [#next] throws `GuestUnreachable`. The command continues, and the guest reports it after the reconnect.
public final class Execution implements AutoCloseable {
    private static final int STDOUT = 1;

    private final Channel channel;
    private final Command command;
    private final GuestObserver.CommandWatch watch;
    private final int pid;
    private final long firstByte;
    private final long missed;
    private Progress progress = Progress.STARTED;
    private OutputListener outputListener = OutputListener.NONE;

    /// Progress of [#next]. Confined to the reader thread.
    private enum Progress {
        STARTED,
        RUNNING,
        EXITED
    }

    /// Data that the guest sends with a process: its id, and the amount of earlier output.
    private record Begun(int pid, long firstByte, long firstErrorByte) {}

    private Execution(Channel channel, Command command, GuestObserver.CommandWatch watch, Begun begun) {
        this.channel = channel;
        this.command = command;
        this.watch = watch;
        this.pid = begun.pid();
        this.firstByte = begun.firstByte();
        this.missed = begun.firstByte() + begun.firstErrorByte();
    }

    /// Starts `command` as the sandbox user and returns as soon as it runs. Throws `CannotRun` if it cannot start.
    public static Execution start(Guest guest, Command command) {
        try (var undo = new Undo()) {
            var watch = undo.add(guest.watchCommand());
            var channel = guest.open(Service.EXEC, CommandCodec.exec(command), program(command));
            var execution = begin(command, channel, watch);
            undo.keep();
            return execution;
        }
    }

    /// Starts `command` under `name`, like [#startOnKeptTerminal], without a terminal. A guest that cannot keep
    /// commands starts it nevertheless, and detaches it when the connection is lost.
    public static Execution startKept(Guest guest, Command command, String name) {
        Payload request =
                guest.canKeepProcesses() ? CommandCodec.kept(command).string(name) : CommandCodec.exec(command);
        return begin(command, guest.openKept(Service.EXEC, request, program(command)), guest::correctCause);
    }

    /// Starts `command` on a terminal that the guest keeps under `name`. All its output arrives as
    /// standard output. If the connection is lost, the command
    /// continues, and [#attach] takes it over. The guest keeps only part of the output, so no output limit applies.
    public static Execution startOnKeptTerminal(Guest guest, Command command, String name, int columns, int rows) {
        if (!guest.canKeepProcesses()) {
            throw new SandboxException(new Failure.Unsupported(
                    "a shell", "the guest of this sandbox, " + guest.build() + ", cannot keep one"));
        }
        Payload request = CommandCodec.kept(command).u16(columns).u16(rows).string(name);
        return begin(command, guest.openKept(Service.PTY, request, program(command)), guest::correctCause);
    }

    /// Takes over a kept process. The output starts with the bytes that the guest kept; [#firstByte] is their
    /// position.
    public static Execution attach(Guest guest, SurvivingProcess survivor) {
        String name = survivor.name().orElseThrow();
        Command unknown = Command.of(name).withInput(Command.Input.STREAM);
        Channel channel = guest.attach(survivor, new RequestSubject.Program(name));
        Begun begun = channel.started(fields -> new Begun(fields.i32(), fields.u64(), fields.u64()));
        return new Execution(channel, unknown, guest::correctCause, begun);
    }

    private static RequestSubject program(Command command) {
        return new RequestSubject.Program(command.argv().getFirst());
    }

    private static Execution begin(Command command, Channel channel, GuestObserver.CommandWatch watch) {
        return new Execution(channel, command, watch, new Begun(channel.started(Fields::i32), 0, 0));
    }

    /// Adds a listener that receives the same events as the reader. Call it before the first read.
    public Execution withListener(OutputListener listener) {
        outputListener = listener;
        return this;
    }

    /// Returns the process id inside the sandbox.
    public int pid() {
        return pid;
    }

    /// Returns the number of bytes of standard output before the first that is read here. Zero unless the process
    /// was taken over.
    public long firstByte() {
        return firstByte;
    }

    /// Returns the number of bytes of both streams before the first that is read here.
    public long missed() {
        return missed;
    }

    /// Waits for the next event. The last event is `Exited`; a further call is an error.
    public ExecEvent next() {
        switch (progress) {
            case STARTED -> {
                progress = Progress.RUNNING;
                return new ExecEvent.Started(pid);
            }
            case RUNNING -> {
                return output();
            }
            case EXITED -> throw new IllegalStateException("the command has exited");
        }
        throw new AssertionError(progress);
    }

    private ExecEvent output() {
        while (true) {
            switch (receive()) {
                case Message.Data(int stream, byte[] bytes) -> {
                    var from = stream == STDOUT ? ExecEvent.Stream.STDOUT : ExecEvent.Stream.STDERR;
                    outputListener.output(from, bytes);
                    return new ExecEvent.Output(from, bytes);
                }
                case Message.Eof _ -> {}
                case Message.Ended _ -> {
                    progress = Progress.EXITED;
                    Exit exit = watch.correctCause(channel.result(ExitCodec::read));
                    outputListener.exited(exit);
                    return new ExecEvent.Exited(exit);
                }
            }
        }
    }

    private Message receive() {
        try {
            return channel.next();
        } catch (SandboxException e) {
            outputListener.lost();
            throw e;
        }
    }

    /// Writes to the standard input and blocks while the command does not read. Bytes for an exited command are
    /// discarded. The command must have been started with a stream as its input.
    public void write(byte[] bytes, int offset, int length) {
        if (command.input() != Command.Input.STREAM) {
            throw new IllegalStateException("the command was started without an input stream");
        }
        channel.write(bytes, offset, length);
    }

    /// Closes the standard input. Idempotent.
    public void closeInput() {
        channel.closeInput();
    }

    /// Sends a signal. Does nothing if the command has exited.
    public void signal(int signal, SignalTarget target) {
        channel.signal(signal, target == SignalTarget.TREE);
    }

    public void resize(int columns, int rows) {
        channel.resize(columns, rows);
    }

    /// Detaches the command, which continues to run. Its input closes, its output is discarded, and its timeouts no
    /// longer apply. [#next] then returns an exit with cause `DETACHED`.
    public void detach() {
        channel.detach();
    }

    /// Waits for the exit and returns the output. Keeps at most the command's output limit of each stream, or
    /// [Command#OUTPUT_LIMIT] if it has none.
    public ExecResult collect() {
        long limit = command.outputLimit() == Command.UNLIMITED ? Command.OUTPUT_LIMIT : command.outputLimit();
        var stdout = new BoundedOutput(limit);
        var stderr = new BoundedOutput(limit);
        while (true) {
            switch (next()) {
                case ExecEvent.Started _ -> {}
                case ExecEvent.Output(ExecEvent.Stream stream, byte[] bytes) ->
                    (stream == ExecEvent.Stream.STDOUT ? stdout : stderr).add(bytes);
                case ExecEvent.Exited(Exit exit) -> {
                    boolean truncated = stdout.isShort(exit.stdoutBytes()) || stderr.isShort(exit.stderrBytes());
                    return new ExecResult(exit, stdout.text(), stderr.text(), truncated);
                }
            }
        }
    }

    /// Kills the command and all its descendants if it still runs. Does not wait. Idempotent.
    @Override
    public void close() {
        channel.close();
        watch.close();
        outputListener.left();
    }
}
