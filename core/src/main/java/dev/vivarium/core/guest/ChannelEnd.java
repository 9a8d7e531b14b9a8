package dev.vivarium.core.guest;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.nio.ByteBuffer;

/// End of a channel: the result of the guest, or a failure such as a lost connection. Immutable.
sealed interface ChannelEnd {
    record Result(Fields fields) implements ChannelEnd {}

    record Failed(Failure failure) implements ChannelEnd {}

    /// End of a channel without a reader.
    static ChannelEnd withoutReader() {
        return new Result(new Fields(ByteBuffer.allocate(0)));
    }

    /// Throws if the connection to the guest was lost.
    default void requireReachable() {
        if (this instanceof Failed(Failure.GuestUnreachable lost)) {
            throw new SandboxException(lost);
        }
    }

    /// Message for every read after the end. Throws if the guest failed.
    default Message message() {
        return switch (this) {
            case Result _ -> new Message.Ended();
            case Failed(Failure failure) -> throw new SandboxException(failure);
        };
    }
}
