package dev.vivarium.core.exec;

import dev.vivarium.core.guest.Channel;
import dev.vivarium.core.guest.Fields;
import dev.vivarium.core.guest.Guest;
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

/// A command that runs in a sandbox. Thread-safe, meant for one reader; others may write, signal and close meanwhile.
///
/// Output is pulled: a reader that stops slows the command as a slow terminal would. If the guest is lost on the way,
/// [#next] throws `GuestUnreachable`; the command itself goes on and the guest names it when it is back.
public final class Execution implements AutoCloseable {
    private static final int STDOUT = 1;

    private final Guest guest;
    private final Channel channel;
    private final Command command;
    private final int pid;
    private final long firstByte;
    private final long missed;
    private Progress progress = Progress.STARTED;
    private OutputListener outputListener = OutputListener.NOBODY;

    /// What [#next] has told its reader. Confined to the reader.
    private enum Progress {
        STARTED,
        RUNNING,
        EXITED
    }

    /// What the guest says of a process when it is ours: its number, and how much of its output came before.
    private record Begun(int pid, long firstByte, long firstErrorByte) {}

    private Execution(Guest guest, Channel channel, Command command, Begun begun) {
        this.guest = guest;
        this.channel = channel;
        this.command = command;
        this.pid = begun.pid();
        this.firstByte = begun.firstByte();
        this.missed = begun.firstByte() + begun.firstErrorByte();
    }

    /// Starts `command` as the sandbox user and returns as soon as it runs. Throws `CannotRun` when it cannot.
    public static Execution start(Guest guest, Command command) {
        return begin(guest, command, guest.open(Service.EXEC, CommandCodec.exec(command), program(command)));
    }

    /// Starts `command` under `name`, as [#startOnKeptTerminal] does, without a terminal. A guest that cannot keep
    /// it starts it all the same, and then it is let go when the guest is lost.
    public static Execution startKept(Guest guest, Command command, String name) {
        Payload request = guest.keeps() ? CommandCodec.kept(command).string(name) : CommandCodec.exec(command);
        return begin(guest, command, guest.openKept(Service.EXEC, request, program(command)));
    }

    /// Starts `command` on a terminal of its own; what it writes all comes as standard output.
    public static Execution startOnTerminal(Guest guest, Command command, int columns, int rows) {
        Payload request = CommandCodec.exec(command).u16(columns).u16(rows);
        return begin(guest, command, guest.open(Service.PTY, request, program(command)));
    }

    /// Starts `command` on a terminal that is kept under `name`: when the guest is lost it goes on, and [#attach]
    /// takes it over again. What it says is remembered only in part, so no limit applies to it.
    public static Execution startOnKeptTerminal(Guest guest, Command command, String name, int columns, int rows) {
        if (!guest.keeps()) {
            throw new SandboxException(new Failure.Unsupported(
                    "a shell", "the guest of this sandbox, " + guest.build() + ", cannot keep one"));
        }
        Payload request = CommandCodec.kept(command).u16(columns).u16(rows).string(name);
        return begin(guest, command, guest.openKept(Service.PTY, request, program(command)));
    }

    /// Takes over a kept process. It begins with what the guest remembers of its output, [#firstByte] says from
    /// where.
    public static Execution attach(Guest guest, SurvivingProcess survivor) {
        String name = survivor.name().orElseThrow();
        Channel channel = guest.attach(survivor, new RequestSubject.Program(name));
        try {
            Begun begun = channel.started(fields -> new Begun(fields.i32(), fields.u64(), fields.u64()));
            Command unknown = Command.of(name).withInput(Command.Input.STREAM);
            return new Execution(guest, channel, unknown, begun);
        } catch (RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    private static RequestSubject program(Command command) {
        return new RequestSubject.Program(command.argv().getFirst());
    }

    private static Execution begin(Guest guest, Command command, Channel channel) {
        try {
            return new Execution(guest, channel, command, new Begun(channel.started(Fields::i32), 0, 0));
        } catch (RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    /// Lets somebody hear what its reader hears. To be called before the reader is.
    public Execution heardBy(OutputListener listener) {
        outputListener = listener;
        return this;
    }

    /// Its number inside the sandbox.
    public int pid() {
        return pid;
    }

    /// How many bytes of its standard output came before the first that is heard here; none, unless it was taken
    /// over.
    public long firstByte() {
        return firstByte;
    }

    /// How many bytes of all its output came before what is heard here.
    public long missed() {
        return missed;
    }

    /// Waits for what happens next. The last event is `Exited`; asking again after it is a mistake.
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
            switch (heard()) {
                case Message.Data(int stream, byte[] bytes) -> {
                    var from = stream == STDOUT ? ExecEvent.Stream.STDOUT : ExecEvent.Stream.STDERR;
                    outputListener.output(from, bytes);
                    return new ExecEvent.Output(from, bytes);
                }
                case Message.Eof _ -> {}
                case Message.Ended _ -> {
                    progress = Progress.EXITED;
                    Exit exit = guest.explain(channel.result(ExitCodec::read));
                    outputListener.exited(exit);
                    return new ExecEvent.Exited(exit);
                }
            }
        }
    }

    private Message heard() {
        try {
            return channel.next();
        } catch (SandboxException e) {
            outputListener.lost();
            throw e;
        }
    }

    /// Writes to its standard input and waits while it does not read. Bytes for a command that has ended are thrown
    /// away, as nobody can read them. The command must have been started with a stream as its input.
    public void write(byte[] bytes, int offset, int length) {
        if (command.input() != Command.Input.STREAM) {
            throw new IllegalStateException("the command was started without an input stream");
        }
        channel.write(bytes, offset, length);
    }

    /// Ends its standard input. Idempotent.
    public void closeInput() {
        channel.closeInput();
    }

    /// Sends a signal. A command that has ended does not mind.
    public void signal(int signal, SignalTarget target) {
        channel.signal(signal, target == SignalTarget.TREE);
    }

    /// Changes the size of its terminal.
    public void resize(int columns, int rows) {
        channel.resize(columns, rows);
    }

    /// Lets it go on alone: its input ends, its further output is thrown away, its time limits no longer apply.
    /// [#next] then comes to an exit with cause `DETACHED`.
    public void detach() {
        channel.detach();
    }

    /// Waits for the end and returns everything it wrote. No more than the command's output limit is kept of each
    /// stream; without a limit, [Command#OUTPUT_LIMIT].
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

    /// Kills it with all its descendants if it still runs. Waits for nothing. Idempotent.
    @Override
    public void close() {
        channel.close();
        outputListener.left();
    }
}
