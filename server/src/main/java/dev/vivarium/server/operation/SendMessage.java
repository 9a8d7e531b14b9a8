package dev.vivarium.server.operation;

import dev.vivarium.core.run.Inbox;
import dev.vivarium.core.run.Runs;
import dev.vivarium.model.Message;
import dev.vivarium.model.NewMessage;
import dev.vivarium.model.SandboxId;
import java.time.Duration;
import java.util.Locale;

/// Operation that queues a message for the agent in a sandbox. Thread-safe.
public final class SendMessage {
    private final Inbox inbox;
    private final Runs runs;

    public SendMessage(Inbox inbox, Runs runs) {
        this.inbox = inbox;
        this.runs = runs;
    }

    /// Priority of an intervention. An urgent one interrupts the agent.
    public enum Priority {
        LOW,
        NORMAL,
        HIGH,
        URGENT;

        public static Priority of(String text) {
            return valueOf(text.toUpperCase(Locale.ROOT));
        }
    }

    /// A stored message. Immutable.
    ///
    /// @param waiting       messages in the queue of the sandbox, with this one
    /// @param listening     whether a run is active, whose worker reads the queue
    /// @param usualLatency  recent time from sending to delivery
    public record Result(Message message, int waiting, boolean listening, Duration usualLatency) {}

    public Result send(SandboxId sandbox, NewMessage message) {
        var queued = inbox.post(sandbox, message);
        return new Result(queued.message(), queued.waiting(), runs.isAtWork(sandbox), inbox.usualLatency());
    }

    /// Returns a message that changes the work of the agent. Its kind follows from its priority and its source.
    public static NewMessage intervention(String text, Message.Mode mode, Priority priority, String source) {
        Message.Kind kind;
        if (priority == Priority.URGENT) {
            kind = Message.Kind.INTERRUPT;
        } else {
            kind = source.equals("guardian") ? Message.Kind.GUARDIAN_NUDGE : Message.Kind.GUIDANCE;
        }
        return new NewMessage(text, kind, mode, source);
    }
}
