package dev.vivarium.model;

/// What happens to a running command, in order. The last one is always [Exited]. A non-zero exit, a time-out or a kill
/// is a result, not a failure.
public sealed interface ExecEvent {
    /// The program runs; `pid` is its number inside the sandbox.
    record Started(int pid) implements ExecEvent {}

    /// Bytes the program wrote. The array belongs to the receiver.
    @SuppressWarnings("ArrayRecordComponent") // Compared by nobody; wrapping megabytes of output would cost a copy.
    record Output(Stream stream, byte[] bytes) implements ExecEvent {}

    /// The program ended.
    record Exited(Exit exit) implements ExecEvent {}

    /// Which of the program's streams.
    enum Stream {
        STDOUT,
        STDERR
    }

    default boolean isLast() {
        return this instanceof Exited;
    }
}
