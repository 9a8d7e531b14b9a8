package dev.vivarium.core.guest;

/// Message of a channel, in the order of arrival. Immutable.
public sealed interface Message {
    /// Bytes of a stream. The array belongs to the receiver.
    @SuppressWarnings("ArrayRecordComponent") // Never compared; a wrapper would cost a copy.
    record Data(int stream, byte[] bytes) implements Message {}

    /// End of the stream.
    record Eof(int stream) implements Message {}

    /// End of the channel; [Channel#result] returns the result of the guest.
    record Ended() implements Message {}
}
