package dev.vivarium.core.guest;

/// What comes out of a channel, in order.
public sealed interface Message {
    /// Bytes of a stream. The array belongs to the receiver.
    @SuppressWarnings("ArrayRecordComponent") // Compared by nobody; a wrapper would cost a copy.
    record Data(int stream, byte[] bytes) implements Message {}

    /// Nothing more comes on the stream.
    record Eof(int stream) implements Message {}

    /// The channel has ended; [Channel#result] has what the guest said.
    record Ended() implements Message {}
}
