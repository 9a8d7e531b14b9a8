package dev.vivarium.core.guest;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.nio.ByteBuffer;

/// How a channel ended: with the guest's last word, or without. Immutable.
sealed interface ChannelEnd {
    record Result(Fields fields) implements ChannelEnd {}

    record Failed(Failure failure) implements ChannelEnd {}

    /// For nobody who would read it.
    static ChannelEnd unheard() {
        return new Result(new Fields(ByteBuffer.allocate(0)));
    }

    /// Throws if the guest was lost over it.
    default void requireReachable() {
        if (this instanceof Failed(Failure.GuestUnreachable lost)) {
            throw new SandboxException(lost);
        }
    }

    /// What whoever reads is told for ever after; throws what the guest failed with.
    default Message message() {
        return switch (this) {
            case Result _ -> new Message.Ended();
            case Failed(Failure failure) -> throw new SandboxException(failure);
        };
    }
}
