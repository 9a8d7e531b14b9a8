package dev.vivarium.model;

/// Event of a running command, in order. The last one is always [Exited]. Immutable.
///
/// A non-zero exit, a timeout or a kill is a result, not a failure.
public sealed interface ExecEvent {
    /// The program runs. `pid` is its process id inside the sandbox.
    record Started(int pid) implements ExecEvent {}

    /// Bytes that the program wrote. The array belongs to the receiver.
    @SuppressWarnings("ArrayRecordComponent") // Never compared; wrapping megabytes of output would cost a copy.
    record Output(Stream stream, byte[] bytes) implements ExecEvent {}

    record Exited(Exit exit) implements ExecEvent {}

    enum Stream {
        STDOUT,
        STDERR
    }

    default boolean isLast() {
        return this instanceof Exited;
    }
}
