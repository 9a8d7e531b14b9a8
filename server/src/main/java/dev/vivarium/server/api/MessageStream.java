package dev.vivarium.server.api;

import dev.vivarium.core.run.Delivery;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Message;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.http.Access;
import dev.vivarium.server.http.Exchange;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/// Stream of messages to a reader: queued messages, then new messages as they arrive. The stream ends when the reader
/// disconnects or loses access, or when the sandbox or the server ends. Confined to the thread of the request.
final class MessageStream {
    private final Exchange exchange;
    private final Sandbox sandbox;
    private final Delivery delivery;
    private final Runnable mayRead;
    private final Duration keepAlive;
    private final Access access;

    /// @param mayRead throws if the reader may no longer read the messages
    MessageStream(Exchange exchange, Delivery delivery, Runnable mayRead, Duration keepAlive) {
        this.exchange = exchange;
        this.sandbox = exchange.sandbox();
        this.delivery = delivery;
        this.mayRead = mayRead;
        this.keepAlive = keepAlive;
        this.access = exchange.access();
    }

    void run(EventStream.Format format) throws IOException {
        EventStream.send(exchange, format, stream -> {
            while (true) {
                access.check();
                requireNotEnded();
                send(stream, delivery.next(Access.CHECK_EVERY));
                stream.keepAliveAfter(keepAlive);
            }
        });
    }

    private void requireNotEnded() {
        sandbox.info().end().ifPresent(end -> {
            throw new SandboxException(new Failure.SandboxEnded(sandbox.id(), end));
        });
    }

    /// Messages that could not be sent stay queued.
    private void send(EventStream stream, List<Message> messages) throws IOException {
        int sent = 0;
        try {
            if (!messages.isEmpty()) {
                access.checkNow();
                mayRead.run();
            }
            for (Message message : messages) {
                // A slow reader may have lost access since the messages were read.
                access.check();
                stream.send("message", message.id(), out -> MessagesHandler.MESSAGE.writeFields(out, message));
                sent++;
            }
        } finally {
            delivery.passed(messages, sent);
        }
    }
}
