package dev.vivarium.core.exec;

import dev.vivarium.model.ExecEvent;
import dev.vivarium.model.Exit;
import dev.vivarium.model.Failure;
import dev.vivarium.model.ProcessInfo;
import dev.vivarium.model.SandboxException;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/// Process that other clients than its starter can list, signal and write to. Thread-safe.
public final class ManagedProcess implements AutoCloseable {
    private final String id;
    private final Execution execution;
    private final Origin origin;
    private final Instant startedAt;
    private final Optional<OutputRing> tail;
    private final Runnable forget;
    private final ReentrantLock input = new ReentrantLock();
    private volatile State state = new State.Running();

    /// Command line of a process, the user who started it, and its kind. Immutable.
    public record Origin(String command, String who, ProcessInfo.Kind kind) {}

    private sealed interface State {
        record Running() implements State {}

        record Exited(Exit exit) implements State {}

        record Lost(Failure failure) implements State {}
    }

    ManagedProcess(
            String id,
            Execution execution,
            Origin origin,
            Instant startedAt,
            Optional<OutputRing> tail,
            Runnable forget) {
        this.id = id;
        this.execution = execution;
        this.origin = origin;
        this.startedAt = startedAt;
        this.tail = tail;
        this.forget = forget;
    }

    public String id() {
        return id;
    }

    Origin origin() {
        return origin;
    }

    public ProcessInfo info() {
        var now = state;
        return new ProcessInfo(
                id,
                execution.pid(),
                origin.command(),
                origin.kind(),
                origin.who(),
                startedAt,
                switch (now) {
                    case State.Running _ -> ProcessInfo.State.RUNNING;
                    case State.Exited _ -> ProcessInfo.State.EXITED;
                    case State.Lost _ -> ProcessInfo.State.LOST;
                },
                now instanceof State.Exited(Exit exit) ? Optional.of(exit) : Optional.empty());
    }

    /// Sends a signal. Fails with `ProcessEnded` if the process has ended.
    public void signal(Signal signal, SignalTarget target) {
        requireRunning();
        execution.signal(signal.number(), target);
    }

    /// Writes to the standard input, after earlier writers, and blocks while the process does not read.
    public void write(byte[] bytes, int offset, int length) {
        input.lock();
        try {
            requireRunning();
            execution.write(bytes, offset, length);
        } catch (IllegalStateException e) {
            throw new SandboxException(new Failure.InvalidRequest("stdin", "is closed, or was never open"), e);
        } finally {
            input.unlock();
        }
    }

    /// Closes the standard input. Idempotent.
    public void closeInput() {
        input.lock();
        try {
            execution.closeInput();
        } finally {
            input.unlock();
        }
    }

    /// Returns a reader of the output: kept output first, then new output. Fails with `InvalidRequest` if the
    /// process is not detached, because its output belongs to the waiting client.
    public OutputFollower follow() {
        return new OutputFollower(
                tail.orElseThrow(() ->
                        SandboxException.invalid("process_id", "must name a detached process to follow its output")),
                this);
    }

    boolean isRunning() {
        return state instanceof State.Running;
    }

    /// Returns the exit, if the process has ended. Throws the failure if the process was lost.
    Optional<Exit> exit() {
        return switch (state) {
            case State.Running _ -> Optional.empty();
            case State.Exited(Exit exit) -> Optional.of(exit);
            case State.Lost(Failure failure) -> throw new SandboxException(failure);
        };
    }

    /// Reads the whole output into the ring until the process ends.
    void pump(OutputRing kept) {
        try {
            while (true) {
                switch (execution.next()) {
                    case ExecEvent.Started _ -> {}
                    case ExecEvent.Output(ExecEvent.Stream stream, byte[] bytes) -> kept.add(stream, bytes);
                    case ExecEvent.Exited(Exit exit) -> {
                        state = new State.Exited(exit);
                        return;
                    }
                }
            }
        } catch (SandboxException e) {
            state = new State.Lost(e.failure());
        } finally {
            kept.end();
        }
    }

    private void requireRunning() {
        if (!isRunning()) {
            throw new SandboxException(new Failure.ProcessEnded(id));
        }
    }

    /// Removes the process from the list. Does not end it. Idempotent.
    @Override
    public void close() {
        forget.run();
    }
}
