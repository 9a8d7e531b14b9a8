package dev.vivarium.model;

import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;

/// Events of messages to the agent. Immutable.
public sealed interface MessageEvent extends EventBody {
    record Posted(String id, Message.Kind kind, String content, Message.Mode mode) implements MessageEvent {}

    record Delivered(String id, Message.Kind kind, Duration latency) implements MessageEvent {}

    /// Returns the kind of the message that an event of this type posts.
    static Optional<Message.Kind> kindOf(String type) {
        return Arrays.stream(Message.Kind.values())
                .filter(kind -> type(kind).equals(type))
                .findFirst();
    }

    private static String type(Message.Kind kind) {
        return switch (kind) {
            case USER_MESSAGE -> "user.message";
            case INTERRUPT -> "user.interrupt";
            case GUIDANCE -> "user.guidance";
            case GUARDIAN_NUDGE -> "guardian.intervention";
            case SYSTEM -> "sandbox.message";
        };
    }

    @Override
    default String type() {
        return switch (this) {
            case Posted posted -> type(posted.kind);
            case Delivered _ -> "user.message_delivered";
        };
    }
}
