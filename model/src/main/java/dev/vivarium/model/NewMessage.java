package dev.vivarium.model;

import static dev.vivarium.model.Failure.InvalidRequest.require;

import java.nio.charset.StandardCharsets;

/// Message to send to the agent in a sandbox. Control characters are removed, because they only confuse the agent.
/// Immutable.
public record NewMessage(String content, Message.Kind kind, Message.Mode mode, String source) {
    public NewMessage {
        content = PlainText.of(content);
        // Checked before the message is published, because its event has the same source.
        NewEvent.requireSource(source);
        require(!content.isBlank(), "content", "must say something");
        int bytes = content.getBytes(StandardCharsets.UTF_8).length;
        require(
                bytes <= Message.LONGEST,
                "content",
                "has " + bytes + " bytes; at most " + Message.LONGEST + " are passed on");
    }

    /// Creates a message for immediate delivery.
    public NewMessage(String content, Message.Kind kind, String source) {
        this(content, kind, Message.Mode.IMMEDIATE, source);
    }
}
